import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { editsBetween, nearestWord } from "../../src/config/unknown_key.ts";

Deno.test("editsBetween() counts what is put in, taken out, replaced and swapped", () => {
  assertEquals(editsBetween("port", "port"), 0);
  assertEquals(editsBetween("prot", "port"), 1);
  assertEquals(editsBetween("pot", "port"), 1);
  assertEquals(editsBetween("ports", "port"), 1);
  assertEquals(editsBetween("part", "port"), 1);
  assertEquals(editsBetween("", "port"), 4);
  assertEquals(editsBetween("kitten", "sitting"), 3);
});

Deno.test("editsBetween() is the same in both directions and zero only between equals", () => {
  fc.assert(fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (one, other) => {
    assertEquals(editsBetween(one, other), editsBetween(other, one));
    assertEquals(editsBetween(one, other) === 0, one === other);
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
