import { assertEquals } from "@std/assert";
import { joined } from "../../src/lib/joined.ts";

Deno.test("joined() puts pieces one after another", () => {
  assertEquals([...joined([Uint8Array.of(1, 2), new Uint8Array(0), Uint8Array.of(3)])], [1, 2, 3]);
  assertEquals(joined([]).length, 0);
});
