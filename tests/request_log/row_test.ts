import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { appendRow, joinRows, ROW_COLUMNS, type RowValue, splitRows } from "../../src/observers/request_log/row.ts";
import { recordOf } from "./support.ts";

const TEXT = fc.string({ unit: "binary", maxLength: 2_000 });
const NAME = fc.option(TEXT);

Deno.test("joined rows are split into the same values, whatever texts callers and vendors send", () => {
  const record = fc.record({ model: NAME, servedModel: NAME, message: NAME, status: fc.nat(599) });
  fc.assert(fc.property(fc.array(record, { minLength: 1, maxLength: 5 }), fc.nat(), (records, endedAt) => {
    const values: RowValue[] = [];
    for (const fields of records) appendRow(values, recordOf(fields), endedAt);
    assertEquals(splitRows(joinRows(values)), values.map((value) => value === "" ? null : value));
  }));
});

Deno.test("a text that is not made of whole rows is refused", () => {
  const values: RowValue[] = [];
  appendRow(values, recordOf({}), 1_000);
  assertEquals(values.length, ROW_COLUMNS.length);
  assertThrows(() => splitRows(joinRows(values.slice(1))), Error, "the rows of the log are damaged");
});
