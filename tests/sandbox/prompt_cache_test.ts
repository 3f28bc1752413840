import { assertEquals } from "@std/assert";
import { PromptCache } from "../../src/sandbox/prompt_cache.ts";
import type { Segment } from "../../src/sandbox/tokens.ts";
import { itemAt } from "../support/items.ts";

const segment = (text: string, tokens: number, ttl?: "5m" | "1h"): Segment => ({
  text,
  tokens,
  cache: ttl === undefined ? null : { ttl },
});
const shares = (readTokens: number, written5mTokens = 0, written1hTokens = 0) => ({
  readTokens,
  written5mTokens,
  written1hTokens,
});

Deno.test("a long prefix is read the second time, whatever follows it", () => {
  const cache = new PromptCache();
  const long = [segment("a", 1000), segment("b", 100)];
  assertEquals(cache.account("m", long, "any_length"), shares(0));
  assertEquals(cache.account("m", [...long, segment("c", 7)], "any_length"), shares(1100));
});

Deno.test("a short prefix is not cached without a marker", () => {
  const cache = new PromptCache();
  cache.account("m", [segment("a", 1023)], "any_length");
  assertEquals(cache.account("m", [segment("a", 1023)], "any_length"), shares(0));
});

Deno.test("a marked prefix is written with its lifetime, then read", () => {
  const cache = new PromptCache();
  const prompt = [segment("a", 10, "1h"), segment("b", 20, "5m"), segment("c", 5)];
  assertEquals(cache.account("m", prompt, "markers"), shares(0, 20, 10));
  assertEquals(cache.account("m", prompt, "markers"), shares(30));
  assertEquals(cache.account("m", [itemAt(prompt, 0), segment("d", 4, "5m")], "markers"), shares(10, 4));
});

Deno.test("a long prefix without a marker is not cached if only markers cache", () => {
  const cache = new PromptCache();
  cache.account("m", [segment("a", 5000)], "markers");
  assertEquals(cache.account("m", [segment("a", 5000)], "markers"), shares(0));
});

Deno.test("nothing is shared between models", () => {
  const cache = new PromptCache();
  cache.account("m", [segment("a", 2000)], "any_length");
  assertEquals(cache.account("n", [segment("a", 2000)], "any_length"), shares(0));
});

Deno.test("a vendor that caches at the end too reads up to a breakpoint only, and reports what it wrote", () => {
  const cache = new PromptCache();
  const text = (name: string, marked = false) => ({ text: name, tokens: 600, cache: marked ? { ttl: null } : null });
  const first = cache.account("x", [text("a"), text("b", true), text("c")], "markers_and_end");
  assertEquals(first, { readTokens: 0, written5mTokens: 1_800, written1hTokens: 0 });
  const second = cache.account("x", [text("a"), text("b", true), text("d")], "markers_and_end");
  assertEquals(second, { readTokens: 1_200, written5mTokens: 600, written1hTokens: 0 });
});
