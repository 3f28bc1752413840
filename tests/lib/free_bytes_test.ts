import { assertEquals } from "@std/assert";
import { freeBytes } from "../../src/platform/lib/bytes/free_bytes.ts";

Deno.test("freeBytes() frees large buffers and keeps small ones", () => {
  const large = new Uint8Array(65_536);
  const small = new Uint8Array(65_535);
  freeBytes(large);
  freeBytes(small);
  assertEquals([large.length, large.buffer.detached, small.length], [0, true, 65_535]);
});
