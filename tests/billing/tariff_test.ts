import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  CHARGED_BY,
  type ChargeKind,
  costOf as costOfQuantities,
  costOfAll,
  isChargeable,
  PRICE_KEYS,
  PRICE_NAMES,
  type PriceKey,
  type Quantities,
  readTariff,
  type Tariff,
  videoSecondTariff,
} from "../../src/money/billing/prices/tariff.ts";
import { textQuantitiesOf } from "../../src/money/billing/prices/text_quantities.ts";
import { speechQuantities } from "../../src/services/audio/speech_charge.ts";
import { transcriptQuantities } from "../../src/services/audio/transcript_charge.ts";
import { cacheQuantitiesOf } from "../../src/services/caches/storage.ts";
import { embeddingQuantities } from "../../src/services/embeddings/measure.ts";
import { imageQuantitiesOf } from "../../src/services/images/consumption.ts";
import { moderationQuantities } from "../../src/services/moderations/moderation_call.ts";
import { rankQuantities } from "../../src/services/ranks/rank_quantities.ts";
import { NO_USAGE, type Usage } from "../../src/conversation/neutral/usage.ts";
import { writeMoney } from "../../src/platform/lib/basics/money.ts";

const COUNTERS = [
  "freshTokens",
  "cacheReadTokens",
  "cacheWrite5mTokens",
  "cacheWrite1hTokens",
  "toolPromptTokens",
  "outputTokens",
  "reasoningTokens",
] as const;
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

const anyQuantities: fc.Arbitrary<Quantities> = fc.dictionary(fc.constantFrom(...PRICE_KEYS), fc.nat(10_000_000_000));
const anyPriceList: fc.Arbitrary<Tariff> = fc.dictionary(fc.constantFrom(...PRICE_NAMES), anyPrice).map(readTariff);

Deno.test("costOf() never falls when more of any one thing is consumed", () => {
  const anyKey = fc.constantFrom(...PRICE_KEYS);
  fc.assert(fc.property(anyQuantities, anyKey, anyCount, anyPriceList, (quantities, key, more, tariff) => {
    const larger = { ...quantities, [key]: (quantities[key] ?? 0) + more };
    assertEquals(costOfQuantities(larger, tariff) >= costOfQuantities(quantities, tariff), true);
  }));
});

Deno.test("costOfAll() adds parts up exactly and rounds them once", () => {
  fc.assert(fc.property(anyQuantities, anyQuantities, anyPriceList, (first, second, tariff) => {
    const together = Object.fromEntries(PRICE_KEYS.map((key) => [key, (first[key] ?? 0) + (second[key] ?? 0)]));
    const parts = [first, second].map((quantities) => ({ quantities, tariff }));
    assertEquals(costOfAll(parts), costOfQuantities(together, tariff));
  }));
  const third = { quantities: { prompt: 1 }, tariff: readTariff({ prompt: "0.00000000003" }) };
  assertEquals([costOfAll([third]), costOfAll([third, third])], [0n, 1n]);
});

Deno.test("every price key is charged by an endpoint that counts it", () => {
  const everything: Required<Usage> = {
    freshTokens: 9,
    cacheReadTokens: 9,
    cacheWrite5mTokens: 4,
    cacheWrite30mTokens: 1,
    cacheWrite12hTokens: 1,
    cacheWrite24hTokens: 1,
    cacheWrite1hTokens: 1,
    toolPromptTokens: 1,
    outputTokens: 9,
    reasoningTokens: 1,
    imageInputTokens: 1,
    imageCacheReadTokens: 1,
    audioInputTokens: 1,
    audioCacheReadTokens: 1,
    imageOutputTokens: 1,
    audioOutputTokens: 1,
    videoOutputTokens: 1,
    webSearches: 1,
    mapSearches: 1,
    fileSearches: 1,
    webFetches: 1,
    ocrPages: 1,
    audioSeconds: 1,
    imagesMade: 1,
    otherModels: [],
    serviceTier: "flex",
    region: "us",
    estimated: true,
    isUnreadable: false,
  };
  const consumption = {
    textTokens: 5,
    imageTokens: 5,
    cachedTokens: 4,
    cachedImageTokens: 2,
    outputTokens: 5,
    outputTextTokens: 2,
  };
  const counted: Record<ChargeKind, Quantities> = {
    text: textQuantitiesOf(everything, 1),
    image: imageQuantitiesOf(consumption, { made: 1, given: 1 }),
    video: { video_second: 1 },
    cache: cacheQuantitiesOf(1, 3_600_000),
    embedding: embeddingQuantities(1),
    moderation: moderationQuantities(1),
    rerank: rankQuantities(1, 1),
    speech: speechQuantities({ characters: 1, promptTokens: 1, audioTokens: 1 }),
    transcription: transcriptQuantities({ seconds: 1, textTokens: 1, audioTokens: 1, outputTokens: 1 }),
  };
  for (const key of PRICE_KEYS) {
    const tariff = key === "video_second" ? videoSecondTariff(10n ** 18n) : readTariff({ [key]: "1" });
    for (const endpoint of CHARGED_BY[key]) {
      assertEquals(costOfQuantities(counted[endpoint], tariff) > 0n, true, `${endpoint} ${key}`);
    }
    const charging = (Object.keys(counted) as ChargeKind[]).filter((each) => (counted[each][key] ?? 0) > 0);
    assertEquals(charging, [...CHARGED_BY[key]] as ChargeKind[], key);
  }
});

Deno.test("isChargeable() takes the keys of an endpoint and those that they follow", () => {
  assertEquals(isChargeable("web_search", ["text"]), true);
  assertEquals(isChargeable("web_search", ["image", "video", "cache"]), false);
  assertEquals(isChargeable("completion", ["image"]), true);
  assertEquals(isChargeable("input_cache_write", ["cache"]), true);
  assertEquals(PRICE_NAMES.filter((word) => isChargeable(word, ["video"])), []);
});

Deno.test("textQuantitiesOf() charges media once, at their own price", () => {
  const usage = usageOf({
    freshTokens: 1_000,
    cacheReadTokens: 100,
    outputTokens: 500,
    audioInputTokens: 700,
    imageInputTokens: 600,
    audioCacheReadTokens: 60,
    imageCacheReadTokens: 30,
    audioOutputTokens: 400,
    imageOutputTokens: 50,
    videoOutputTokens: 500,
  });
  const quantities = textQuantitiesOf(usage);
  const total = (...keys: PriceKey[]) => keys.reduce((sum, key) => sum + ((quantities as Quantities)[key] ?? 0), 0);
  assertEquals([quantities.audio, quantities.image_input, quantities.prompt], [700, 300, 0]);
  assertEquals(total("input_cache_read", "audio_cache_read", "image_input_cache_read"), 100);
  assertEquals(total("completion", "audio_output", "image_output", "video_output"), 500);
});
