import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { encodeKey, isBelow } from "../../../src/platform/store/key_encoding.ts";
import { keyOfKv, kvKeyOf } from "../../../src/platform/store/kv/keys.ts";

const part = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constantFrom("", "\0", "a\0", "a", "\x01"),
);
const key = fc.array(part, { maxLength: 4 });

Deno.test("encodeKey() gives different keys different texts", () => {
  fc.assert(fc.property(key, key, (a, b) => {
    assertEquals(encodeKey(a) === encodeKey(b), JSON.stringify(a) === JSON.stringify(b));
  }));
});

Deno.test("encodeKey() orders numbers by size and before text", () => {
  const ordered = [
    -Number.MAX_VALUE,
    -1,
    -Number.MIN_VALUE,
    0,
    Number.MIN_VALUE,
    0.1,
    1,
    255,
    256,
    Number.MAX_VALUE,
    "",
  ];
  const encoded = ordered.map((part) => encodeKey([part]));
  assertEquals(encoded.toSorted((a, b) => a < b ? -1 : 1), encoded);
  assertEquals(encodeKey([-0]), encodeKey([0]));
});

Deno.test("isBelow() tells a key below a prefix from one that only starts with the same text", () => {
  fc.assert(fc.property(key, key, (prefix, rest) => {
    assertEquals(isBelow(encodeKey([...prefix, ...rest]), encodeKey(prefix)), rest.length > 0);
  }));
  assert(!isBelow(encodeKey(["a\0b"]), encodeKey(["a"])));
});

Deno.test("keyOfKv() undoes kvKeyOf()", () => {
  fc.assert(fc.property(key, (key) => assertEquals(keyOfKv(kvKeyOf(key)), key)));
});

Deno.test("encodeKey() refuses parts that an engine would change silently", () => {
  for (const part of [NaN, Infinity, "\udfff"]) assertThrows(() => encodeKey([part]), RangeError);
});
