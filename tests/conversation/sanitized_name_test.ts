import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import fc from "fast-check";
import {
  sanitizeName,
  shortHash,
  truncateName,
  uniqueName,
  withHash,
} from "../../src/conversation/parts/request/sanitized_name.ts";
import { atLeast } from "../support/items.ts";

Deno.test("sanitizeName() keeps valid names, sanitizes others, and keeps different names different", () => {
  assertEquals(sanitizeName("look_up-2", 64), "look_up-2");
  assertNotEquals(sanitizeName("a.b", 64), sanitizeName("a/b", 64));
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 10, max: 80 }), (word, longest) => {
    const legal = sanitizeName(word, longest);
    assertMatch(legal, /^[a-zA-Z0-9_-]+$/);
    assert(legal.length <= longest);
    assertEquals(sanitizeName(word, longest), legal);
  }));
});

Deno.test("withHash() cuts to the given length and ends in a hash of the whole", () => {
  assertEquals(withHash("x".repeat(99), "whole", 20), `${"x".repeat(11)}_${shortHash("whole", 8)}`);
});

Deno.test("withHash() does not cut within a character", () => {
  assert(withHash("x".repeat(10) + "🙂".repeat(9), "whole", 20).isWellFormed());
});

Deno.test("truncateName() keeps short names and keeps long names different", () => {
  assertEquals(truncateName("a word of any signs!", 20), "a word of any signs!");
  const [one, other] = atLeast(["a", "b"].map((end) => truncateName("x".repeat(64) + end, 64)), 2);
  assertEquals([one.length, other.length], [64, 64]);
  assertNotEquals(one, other);
});

Deno.test("uniqueName() numbers a repeated name, also where the format truncates it", () => {
  const taken = new Map<string, number>();
  const legal = (word: string) => sanitizeName(word, 12);
  const words = ["call", "call", "call_2", "a very long word", "a very long word"].map((word) =>
    uniqueName(word, taken, legal)
  );
  assertEquals(words.slice(0, 3), ["call", "call_2", "call_2_2"]);
  assertEquals(new Set(words).size, 5);
});

Deno.test("uniqueName() makes ten thousand equal names unique in one pass", () => {
  const taken = new Map<string, number>();
  let spelled = 0;
  const legal = (word: string) => (spelled++, sanitizeName(word, 64));
  const words = Array.from({ length: 10_000 }, () => uniqueName("call", taken, legal));
  assertEquals(new Set(words).size, 10_000);
  assert(spelled < 30_000);
});
