import { assertEquals } from "@std/assert";
import { KeyHashes } from "../../src/money/billing/keys/key_hashes.ts";

Deno.test("KeyHashes finds the hash of a remembered key, and of no other text", () => {
  const hashes = new KeyHashes();
  hashes.remember("key-0123456789abcdef", "hash");
  assertEquals(hashes.find("key-0123456789abcdef"), "hash");
  for (const other of ["", "key-0123456789abcdee", "key-0123456789abcde", "Key-0123456789abcdef"]) {
    assertEquals(hashes.find(other), null);
  }
});

Deno.test("KeyHashes.forget() forgets one key, clear() all", () => {
  const hashes = new KeyHashes();
  for (const name of ["one", "two", "three"]) hashes.remember(name, `hash of ${name}`);
  hashes.forget("one");
  hashes.forget("never remembered");
  assertEquals([hashes.find("one"), hashes.find("two")], [null, "hash of two"]);
  hashes.clear();
  assertEquals([hashes.find("two"), hashes.find("three")], [null, null]);
});

Deno.test("KeyHashes drops the oldest of more than 10,000 keys", () => {
  const hashes = new KeyHashes();
  // Some keys share a fingerprint, and then a room.
  for (let index = 0; index <= 11_000; index++) hashes.remember(`key-${index}`, String(index));
  assertEquals([hashes.find("key-0"), hashes.find("key-11000")], [null, "11000"]);
});
