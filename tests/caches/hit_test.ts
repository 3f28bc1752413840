import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { usageWithCache } from "../../src/services/caches/hit.ts";
import type { CacheReference } from "../../src/services/caches/reference.ts";
import { NO_USAGE, promptTokensOf, type Usage } from "../../src/conversation/neutral/usage.ts";

const about = { id: "0", field: "cachedContent", model: "acme/m", provider: "acme" };

function emulated(tokens: number): CacheReference {
  return { kind: "emulated", open: () => Promise.reject(new Error("not to be opened")), tokens, ...about };
}

function native(tokens: number): CacheReference {
  return { kind: "native", upstreamName: "cachedContents/1", tokens, ...about };
}

Deno.test("usageOfHit() is the vendor's usage without a cache, and with a native cache", () => {
  const usage: Usage = { ...NO_USAGE, freshTokens: 10, cacheReadTokens: 90, outputTokens: 5 };
  assertEquals(usageWithCache(usage, null), usage);
  assertEquals(usageWithCache(usage, native(100)), usage);
});

Deno.test("usageOfHit() reads all of an emulated cache, whether the vendor read it, wrote it or counted it as new", () => {
  const hit = { ...NO_USAGE, cacheReadTokens: 100, freshTokens: 7, outputTokens: 3 };
  assertEquals(usageWithCache({ ...NO_USAGE, freshTokens: 107, outputTokens: 3 }, emulated(100)), hit);
  assertEquals(
    usageWithCache({ ...NO_USAGE, cacheReadTokens: 100, freshTokens: 7, outputTokens: 3 }, emulated(100)),
    hit,
  );
  assertEquals(
    usageWithCache({ ...NO_USAGE, cacheWrite1hTokens: 100, freshTokens: 7, outputTokens: 3 }, emulated(100)),
    hit,
  );
});

Deno.test("usageOfHit() keeps the vendor's own reads and writes outside the cache", () => {
  const read = { ...NO_USAGE, cacheReadTokens: 150, freshTokens: 7 };
  assertEquals(usageWithCache(read, emulated(100)), read);
  const wrote = { ...NO_USAGE, cacheReadTokens: 100, cacheWrite5mTokens: 40, freshTokens: 7 };
  assertEquals(usageWithCache(wrote, emulated(100)), wrote);
});

Deno.test("usageOfHit() of an estimate reads the cache also when it is native", () => {
  const estimate = { ...NO_USAGE, freshTokens: 107, outputTokens: 3, estimated: true };
  assertEquals(usageWithCache(estimate, native(100)), { ...estimate, freshTokens: 7, cacheReadTokens: 100 });
});

Deno.test("usageOfHit() counts no token twice, and a second call changes nothing", () => {
  const counter = fc.integer({ min: 0, max: 1_000 });
  fc.assert(fc.property(counter, counter, counter, counter, counter, counter, (fresh, read, w5, w1, tool, tokens) => {
    const usage: Usage = {
      ...NO_USAGE,
      freshTokens: fresh,
      cacheReadTokens: read,
      cacheWrite5mTokens: w5,
      cacheWrite1hTokens: w1,
      toolPromptTokens: tool,
      outputTokens: 9,
    };
    const hit = usageWithCache(usage, emulated(tokens));
    assertEquals(promptTokensOf(hit), promptTokensOf(usage));
    assertEquals(hit.cacheReadTokens, Math.min(fresh + read + w5 + w1, Math.max(read, tokens)));
    assert(Object.values(hit).every((count) => typeof count === "boolean" || count >= 0));
    assertEquals(usageWithCache(hit, emulated(tokens)), hit);
  }));
});
