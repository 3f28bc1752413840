import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { editDistance, nearestWord } from "../../src/platform/lib/text/nearest_word.ts";

Deno.test("editsBetween() counts what is put in, taken out, replaced and swapped", () => {
  assertEquals(editDistance("port", "port"), 0);
  assertEquals(editDistance("prot", "port"), 1);
  assertEquals(editDistance("pot", "port"), 1);
  assertEquals(editDistance("ports", "port"), 1);
  assertEquals(editDistance("part", "port"), 1);
  assertEquals(editDistance("", "port"), 4);
  assertEquals(editDistance("kitten", "sitting"), 3);
});

Deno.test("editsBetween() is the same in both directions and zero only between equals", () => {
  fc.assert(fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (one, other) => {
    assertEquals(editDistance(one, other), editDistance(other, one));
    assertEquals(editDistance(one, other) === 0, one === other);
  }));
});

Deno.test("nearestWord() finds a near word and gives null for a distant one", () => {
  const known = ["host", "port", "base_url", "admin_key"];
  assertEquals(nearestWord("hsot", known), "host");
  assertEquals(nearestWord("baseUrl", known), "base_url");
  assertEquals(nearestWord("BASE-URL", known), "base_url");
  assertEquals(nearestWord("adminkey", known), "admin_key");
  assertEquals(nearestWord("colour", known), null);
  assertEquals(nearestWord("x", []), null);
  assertEquals(nearestWord("a".repeat(100_000), known), null);
});

Deno.test("editDistance() with a maximum is exact up to it, and larger beyond", () => {
  const words = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 9 });
  fc.assert(fc.property(words, words, fc.nat(4), (one, other, max) => {
    const exact = editDistance(one, other);
    const bounded = editDistance(one, other, max);
    if (exact <= max) assertEquals(bounded, exact);
    else assertEquals(bounded > max, true);
  }));
});

Deno.test("nearestWord() compares a word with those of about its length only", () => {
  // Each comparison of these would take a step for each pair of letters: minutes in all.
  const known = Array.from({ length: 100_000 }, (_, nth) => `${"a".repeat(60)}${nth}`);
  for (let nth = 0; nth < 20; nth++) assertEquals(nearestWord(`${"a".repeat(70 + nth)}`, known), null);
});
