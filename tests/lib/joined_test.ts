import { assertEquals } from "@std/assert";
import { concatBytes } from "../../src/platform/lib/bytes/concat_bytes.ts";

Deno.test("joined() concatenates pieces", () => {
  assertEquals([...concatBytes([Uint8Array.of(1, 2), new Uint8Array(0), Uint8Array.of(3)])], [1, 2, 3]);
  assertEquals(concatBytes([]).length, 0);
});
