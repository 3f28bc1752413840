import { assertEquals } from "@std/assert";
import { KnownBytes } from "../../src/platform/lib/bytes/known_bytes.ts";

const bytes = (length: number, value = 0) => new Uint8Array(length).fill(value);

Deno.test("KnownBytes finds equal bytes only, and keeps a copy", () => {
  const known = new KnownBytes(100);
  const first = bytes(10, 1);
  known.add(first);
  first[0] = 2;
  assertEquals([known.has(bytes(10, 1)), known.has(first), known.has(bytes(9, 1))], [true, false, false]);
  known.add(bytes(10, 3));
  assertEquals([known.has(bytes(10, 1)), known.has(bytes(10, 3))], [false, true]);
});

Deno.test("KnownBytes forgets what was not seen for longest, and keeps nothing large", () => {
  const known = new KnownBytes(100);
  for (const length of [20, 21, 22, 23]) known.add(bytes(length));
  known.has(bytes(20));
  known.add(bytes(24));
  assertEquals([20, 21, 22, 23, 24].map((length) => known.has(bytes(length))), [true, false, true, true, true]);
  known.add(bytes(26));
  assertEquals(known.has(bytes(26)), false);
});
