import { assertEquals } from "@std/assert";
import { listFile } from "../../../src/console/client/lists/list_file.ts";

Deno.test("a list as CSV has a column for each field, quotes, and no formulas", () => {
  const rows = [{ id: "a", cost: "-1.50", note: 'say "hi", twice' }, { id: "=1+1", usage: { tokens: 3 }, cost: null }];
  assertEquals(
    listFile(rows, "csv"),
    ["id,cost,note,usage", 'a,-1.50,"say ""hi"", twice",', `'=1+1,,,"{""tokens"":3}"`, ""].join("\r\n"),
  );
});

Deno.test("a list as JSON Lines has a line for each row", () => {
  assertEquals(listFile([{ id: 1 }, { id: "b", of: [2] }], "jsonl"), '{"id":1}\n{"id":"b","of":[2]}\n');
  assertEquals(listFile([], "jsonl"), "");
});
