import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { costOf as costOfQuantities, readTariff, type Tariff } from "../../src/billing/tariff.ts";
import { textQuantitiesOf } from "../../src/billing/text_quantities.ts";
import { NO_USAGE, type Usage } from "../../src/conversation/usage.ts";
import { writeMoney } from "../../src/lib/money.ts";

const COUNTERS = Object.keys(NO_USAGE) as (keyof typeof NO_USAGE & Exclude<keyof Usage, "estimated">)[];
const anyCount = fc.nat(10_000_000_000);
const anyUsage: fc.Arbitrary<Usage> = fc.record({
  freshTokens: anyCount,
  cacheReadTokens: anyCount,
  cacheWrite5mTokens: anyCount,
  cacheWrite1hTokens: anyCount,
  toolPromptTokens: anyCount,
  outputTokens: anyCount,
  reasoningTokens: anyCount,
});
const anyPrice = fc.bigInt({ min: 0n, max: 10n ** 15n }).map((units) =>
  `0.${units.toString().padStart(18, "0").slice(-18)}`
);
const anyTariff: fc.Arbitrary<Tariff> = fc.record({
  prompt: anyPrice,
  completion: anyPrice,
  input_cache_read: anyPrice,
  input_cache_write_5m: anyPrice,
  input_cache_write_1h: anyPrice,
  request: anyPrice,
}, { requiredKeys: [] }).map(readTariff);

function costOf(usage: Usage, tariff: Tariff) {
  return costOfQuantities(textQuantitiesOf(usage), tariff);
}

function usageOf(counts: Partial<Usage>): Usage {
  return { ...NO_USAGE, ...counts };
}

function plus(a: Usage, b: Usage): Usage {
  return Object.fromEntries(
    COUNTERS.map((counter) => [counter, Number(a[counter] ?? 0) + Number(b[counter] ?? 0)]),
  ) as unknown as Usage;
}

Deno.test("costOf() bills the tokens of pictures that were made at their own price", () => {
  const prices = readTariff({ completion: "0.000003", image_output: "0.00006" });
  assertEquals(costOf(usageOf({ outputTokens: 1_130, imageOutputTokens: 1_120 }), prices), 672_300_000n);
});

Deno.test("costOf() bills each kind of token at its own price and reasoning as output", () => {
  const prices = readTariff({
    prompt: "0.000004",
    completion: "0.00002",
    input_cache_read: "0.0000004",
    input_cache_write_5m: "0.000005",
    input_cache_write_1h: "0.000008",
  });
  const cost = (counts: Partial<Usage>) => writeMoney(costOf(usageOf(counts), prices));
  assertEquals(cost({ freshTokens: 1_000_000 }), "4.0000000000");
  assertEquals(cost({ toolPromptTokens: 1_000_000 }), "4.0000000000");
  assertEquals(cost({ cacheReadTokens: 1_000_000 }), "0.4000000000");
  assertEquals(cost({ cacheWrite5mTokens: 1_000_000 }), "5.0000000000");
  assertEquals(cost({ cacheWrite1hTokens: 1_000_000 }), "8.0000000000");
  assertEquals(cost({ outputTokens: 1_000_000, reasoningTokens: 900_000 }), "20.0000000000");
});

Deno.test("readTariff() lets a cache without a price follow the nearest one", () => {
  const bare = readTariff({ prompt: "0.1", completion: "0.2" });
  assertEquals([bare.input_cache_read, bare.input_cache_write_5m, bare.input_cache_write_1h], [
    bare.prompt,
    bare.prompt,
    bare.prompt,
  ]);
  assertEquals([bare.image_input, bare.image_output, bare.per_image, bare.request], [
    bare.prompt,
    bare.completion,
    0n,
    0n,
  ]);
  const write = readTariff({ prompt: "0.1", input_cache_write: "0.3", input_cache_write_5m: null });
  assertEquals([write.input_cache_write_5m, write.input_cache_write_1h], [3n * 10n ** 17n, 3n * 10n ** 17n]);
  const short = readTariff({ prompt: "0.1", input_cache_write_5m: "0.3" });
  assertEquals(short.input_cache_write_1h, short.input_cache_write_5m);
});

Deno.test("readTariff() refuses what is no price and names its key", () => {
  for (const price of ["abc", "-0.1", "", "1e-6", 0.1, {}]) {
    assertThrows(() => readTariff({ prompt: "0.1", completion: price }), RangeError, '"completion"');
  }
  assertEquals(readTariff({ see_also: "the vendor's page" }).prompt, 0n);
});

Deno.test("costOf() is never negative", () => {
  fc.assert(fc.property(anyUsage, anyTariff, (usage, prices) => assertEquals(costOf(usage, prices) >= 0n, true)));
});

Deno.test("costOf() of two usages together is that of each, up to one unit", () => {
  fc.assert(fc.property(anyUsage, anyUsage, anyTariff, (a, b, priced) => {
    const prices = { ...priced, request: 0n };
    const difference = costOf(plus(a, b), prices) - costOf(a, prices) - costOf(b, prices);
    assertEquals(difference >= -1n && difference <= 1n, true);
  }));
});

Deno.test("costOf() never falls when more is used", () => {
  fc.assert(fc.property(anyUsage, fc.constantFrom(...COUNTERS), anyCount, anyTariff, (usage, counter, more, prices) => {
    const larger = { ...usage, [counter]: Number(usage[counter] ?? 0) + more };
    assertEquals(costOf(larger, prices) >= costOf(usage, prices), true);
  }));
});
