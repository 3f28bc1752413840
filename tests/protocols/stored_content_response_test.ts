import { assertEquals } from "@std/assert";
import { downloadNameOf } from "../../src/protocols/stored_content_response.ts";

Deno.test("a file is downloaded under its own name, or under its id if that has other than plain characters", () => {
  const id = "file-01";
  const nameOf = (filename: string) => downloadNameOf({ id, filename });
  assertEquals(nameOf("batch_01_output.jsonl"), "batch_01_output.jsonl");
  for (const odd of ["", ".profile", "a b.txt", 'a".html', "../a", "naïve.txt", "a\r\nb", "x".repeat(101)]) {
    assertEquals(nameOf(odd), id, odd);
  }
});
