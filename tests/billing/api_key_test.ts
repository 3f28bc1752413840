import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import fc from "fast-check";
import { hashOfKey, isWellFormedKey, newApiKey, visiblePrefixOf } from "../../src/money/billing/keys/api_key.ts";

Deno.test("newApiKey() returns sk-sy- and 49 characters, well-formed and different each time", () => {
  const keys = Array.from({ length: 200 }, newApiKey);
  for (const key of keys) {
    assertMatch(key, /^sk-sy-[0-9A-Za-z]{49}$/);
    assert(isWellFormedKey(key));
  }
  assertEquals(new Set(keys).size, keys.length);
});

Deno.test("isWellFormedKey() refuses a generated key with any one character changed", () => {
  const key = newApiKey();
  const anyPlace = fc.integer({ min: "sk-sy-".length, max: key.length - 1 });
  const anyCharacter = fc.constantFrom(..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  fc.assert(fc.property(anyPlace, anyCharacter, (place, character) => {
    const forged = key.slice(0, place) + character + key.slice(place + 1);
    assertEquals(isWellFormedKey(forged), forged === key);
  }));
});

Deno.test("isWellFormedKey() accepts any 16 to 256 visible ASCII characters of another shape", () => {
  assert(isWellFormedKey("sk-sy-demo-key-1"));
  assert(isWellFormedKey("!".repeat(256)));
  assert(isWellFormedKey(newApiKey() + "0"));
});

Deno.test("isWellFormedKey() refuses keys that are short, long, or contain blanks, NUL or other than ASCII", () => {
  const refused = [
    "",
    "a".repeat(15),
    "a".repeat(257),
    "a".repeat(1_000_000),
    "a key with blanks",
    "key-key-key-key\0x",
  ];
  for (const text of [...refused, "schlüssel-schlüssel", "a".repeat(20) + "\n", "ke\ty" + "a".repeat(20)]) {
    assert(!isWellFormedKey(text));
  }
});

Deno.test("hashOfKey() is the SHA-256 of the whole key in hexadecimal", () => {
  assertEquals(hashOfKey("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const key = newApiKey();
  assertNotEquals(hashOfKey(key), hashOfKey(key.slice(0, -1)));
});

Deno.test("visiblePrefixOf() returns twelve characters of a generated key and at most half of a short one", () => {
  assertEquals(visiblePrefixOf("sk-sy-0123456789ABCDEFGHIJK"), "sk-sy-012345");
  assertEquals(visiblePrefixOf("sixteen-letters!"), "sixteen-");
});
