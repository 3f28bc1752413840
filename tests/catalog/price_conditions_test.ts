import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import * as z from "zod";
import { PRICE_KEYS } from "../../src/money/billing/prices/tariff.ts";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import type { PriceSituation } from "../../src/vendors/catalog/prices/price_conditions.ts";
import { highestPricesIn, pricesIn } from "../../src/vendors/catalog/prices/price_list.ts";
import { writePriceOverrides } from "../../src/vendors/catalog/written.ts";
import { multiplyRate, readRate } from "../../src/platform/lib/basics/money.ts";
import { modelOf } from "./support.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A Monday. */
const MONDAY = Date.parse("2026-11-30T00:00:00Z");

const SMALL: PriceSituation = { at: MONDAY, promptTokens: 0, serviceTier: null, region: null };

function promptIn(overrides: readonly Record<string, unknown>[], situation: Partial<PriceSituation>): string {
  const model = modelOf({ id: "a/b", pricing: { prompt: "1", completion: "5", overrides } });
  return pricesIn(model.prices, { ...SMALL, ...situation }).pricing.prompt ?? "none";
}

Deno.test("a band applies strictly above its size, to the whole request", () => {
  const overrides = [{ min_prompt_tokens: 200_000, prompt: "2" }];
  assertEquals(promptIn(overrides, { promptTokens: 200_000 }), "1");
  assertEquals(promptIn(overrides, { promptTokens: 200_001 }), "2");
});

Deno.test("all conditions of an entry must hold, and of those that do, a later one wins key by key", () => {
  const overrides = [
    { min_prompt_tokens: 100, prompt: "2", completion: "6" },
    { min_prompt_tokens: 100, region: "us", prompt: "3" },
  ];
  const model = modelOf({ id: "a/b", pricing: { prompt: "1", completion: "5", overrides } });
  const at = (situation: Partial<PriceSituation>) => pricesIn(model.prices, { ...SMALL, ...situation }).pricing;
  assertEquals(at({ region: "us" }), { prompt: "1", completion: "5" });
  assertEquals(at({ promptTokens: 101 }), { prompt: "2", completion: "6" });
  assertEquals(at({ promptTokens: 101, region: "us" }), { prompt: "3", completion: "6" });
});

Deno.test("hours begin with their first minute and end before their last, on their days, without the dates left out", () => {
  const hours = [{ utc_start: "01:00", utc_end: "04:00", days: ["mon", "fri"], except: ["2026-12-04"], prompt: "2" }];
  assertEquals(promptIn(hours, { at: MONDAY + HOUR_MS - 1 }), "1");
  assertEquals(promptIn(hours, { at: MONDAY + HOUR_MS }), "2");
  assertEquals(promptIn(hours, { at: MONDAY + 4 * HOUR_MS - 1 }), "2");
  assertEquals(promptIn(hours, { at: MONDAY + 4 * HOUR_MS }), "1");
  assertEquals(promptIn(hours, { at: Date.parse("2026-12-01T02:00:00Z") }), "1", "a Tuesday");
  assertEquals(promptIn(hours, { at: Date.parse("2026-12-04T02:00:00Z") }), "1", "a Friday that is left out");
  assertEquals(promptIn(hours, { at: Date.parse("2026-12-11T02:00:00Z") }), "2", "another Friday");
});

Deno.test("hours beyond midnight belong to the day on which they began", () => {
  const hours = [{ utc_start: "22:00", utc_end: "02:00", days: ["mon"], prompt: "2" }];
  assertEquals(promptIn(hours, { at: MONDAY + HOUR_MS }), "1", "they would have begun on Sunday");
  assertEquals(promptIn(hours, { at: MONDAY + 23 * HOUR_MS }), "2");
  assertEquals(promptIn(hours, { at: MONDAY + 25 * HOUR_MS }), "2", "Tuesday, one o'clock");
  assertEquals(promptIn(hours, { at: MONDAY + 26 * HOUR_MS }), "1");
});

Deno.test("a price that ends applies to requests that began before", () => {
  const overrides = [{ until: "2026-12-01", prompt: "2" }];
  assertEquals(promptIn(overrides, { at: MONDAY }), "2");
  assertEquals(promptIn(overrides, { at: Date.parse("2026-12-01") }), "1");
});

Deno.test("factors multiply the prices of tokens, each other and a band, and leave fees as they are", () => {
  const model = modelOf({
    id: "a/b",
    pricing: {
      prompt: "0.000002",
      web_search: "0.01",
      overrides: [
        { min_prompt_tokens: 272_000, prompt: "0.000004" },
        { batch: true, factor: "0.5" },
        { region: "us", factor: "1.1" },
      ],
    },
  });
  const { pricing, reasons } = pricesIn(model.prices, {
    ...SMALL,
    promptTokens: 272_001,
    region: "us",
    serviceTier: "batch",
  });
  assertEquals(pricing, { prompt: "0.0000022", web_search: "0.01" });
  assertEquals(reasons, ["above 272000 prompt tokens", "batch", "region us"]);
});

Deno.test("a tier's own prices come after those of the model, and its own bands after them", () => {
  const model = modelOf({
    id: "a/b",
    pricing: { prompt: "2", completion: "4", overrides: [{ min_prompt_tokens: 10, prompt: "3" }] },
    pricing_tiers: { flex: { prompt: "1", overrides: [{ min_prompt_tokens: 10, prompt: "1.5" }] } },
  });
  const at = (promptTokens: number) => pricesIn(model.prices, { ...SMALL, promptTokens, serviceTier: "flex" }).pricing;
  assertEquals(at(10), { prompt: "1", completion: "4" });
  assertEquals(at(11), { prompt: "1.5", completion: "4" });
});

Deno.test("the catalog changes with the hours, and is the same object while they last", () => {
  const model = modelOf({
    id: "a/b",
    pricing: { prompt: "1", overrides: [{ utc_start: "01:00", utc_end: "02:00", prompt: "2" }] },
  });
  const catalog = createCatalog([model]);
  const promptAt = (at: number) => catalog.at(at).find("a/b")?.pricing.prompt;
  assertEquals([0, 1, 2].map((hour) => promptAt(MONDAY + hour * HOUR_MS)), ["1", "2", "1"]);
  assertEquals(catalog.at(MONDAY + HOUR_MS), catalog.at(MONDAY + 90 * MINUTE_MS));
  assertEquals(promptAt(MONDAY + HOUR_MS - 1), "1", "moments can come out of order");
});

Deno.test("a catalog shows every condition with the prices that it changes", () => {
  const model = modelOf({
    id: "a/b",
    pricing: {
      prompt: "0.000001",
      completion: "0.000005",
      overrides: [
        { min_prompt_tokens: 272_000, prompt: "0.000002" },
        { utc_start: "01:00", utc_end: "04:00", days: ["mon"], except: ["2027-01-01"], completion: "0.00001" },
        { region: "us", factor: "1.1" },
        { until: "2027-01-01", prompt: "0.0000005" },
        { batch: true, factor: "0.5" },
      ],
    },
    pricing_tiers: { fast: { prompt: "0.000009" } },
  });
  const at = (moment: string) => createCatalog([model]).at(Date.parse(moment)).find("a/b");
  const later = at("2027-06-01T12:00:00Z");
  assertEquals(later && writePriceOverrides(later), [
    { min_prompt_tokens: 272_000, prompt: "0.000002" },
    {
      utc_start: "01:00",
      utc_end: "04:00",
      days: ["mon"],
      except: ["2027-01-01"],
      completion: "0.00001",
    },
    { region: "us", prompt: "0.0000011", completion: "0.0000055" },
    { batch: true, prompt: "0.0000005", completion: "0.0000025" },
    { service_tier: "fast", prompt: "0.000009" },
  ]);
});

function pathsOf(pricing: Record<string, unknown>, more: Record<string, unknown> = {}): string[] {
  const error = assertThrows(() => modelOf({ id: "a/b", pricing, ...more }), z.ZodError) as z.ZodError;
  return error.issues.map(({ path }) => path.join("."));
}

Deno.test("readModel() refuses conditions that cannot hold, and names their place", () => {
  const refused = (entry: Record<string, unknown>) => pathsOf({ prompt: "1", overrides: [entry] });
  const at = (name: string) => [`pricing.overrides.0.${name}`];
  assertEquals(refused({ prompt: "2" }), at("from"));
  assertEquals(refused({ min_prompt_tokens: -1, prompt: "2" }), at("min_prompt_tokens"));
  assertEquals(refused({ min_prompt_tokens: 1.5, prompt: "2" }), at("min_prompt_tokens"));
  assertEquals(refused({ utc_start: "25:00", utc_end: "01:00" }), at("utc_start"));
  assertEquals(refused({ utc_start: "01:00", prompt: "2" }), at("utc_end"));
  assertEquals(refused({ days: ["someday"], prompt: "2" }), at("days.0"));
  assertEquals(refused({ except: ["2027-02-30"], prompt: "2" }), at("except.0"));
  assertEquals(refused({ from: "2027-01-01", until: "2027-01-01", prompt: "2" }), at("until"));
  assertEquals(refused({ region: "US", factor: "1.1" }), at("region"));
  assertEquals(refused({ region: "us", factor: "0" }), at("factor"));
  assertEquals(refused({ region: "us", factor: "-1" }), at("factor"));
  assertEquals(refused({ region: "us", factor: 1.1 }), at("factor"));
  assertEquals(pathsOf({ per_image: "1", overrides: [{ min_prompt_tokens: 5, per_image: "2" }] }, { image: {} }), [
    "pricing.overrides.0.min_prompt_tokens",
  ]);
  const batched = { per_image: "1", overrides: [{ batch: true, factor: "0.5" }] };
  assertEquals(pathsOf(batched, { image: {} }), ["pricing.overrides.0.batch"]);
});

Deno.test("a rate times a factor is exact, and rounded up where it is not", () => {
  assertEquals(multiplyRate(readRate("0.000002"), "1.1"), readRate("0.0000022"));
  assertEquals(multiplyRate(1n, "1.1"), 2n);
});

const anyEntry = fc.record({
  min_prompt_tokens: fc.option(fc.constantFrom(10, 100, 200), { nil: undefined }),
  hours: fc.option(fc.tuple(fc.nat(23), fc.nat(23)), { nil: undefined }),
  days: fc.option(fc.subarray(["sun", "mon", "tue"], { minLength: 1 }), { nil: undefined }),
  from: fc.option(fc.constantFrom("2026-11-30", "2026-11-30T03:10:00Z"), { nil: undefined }),
  until: fc.option(fc.constantFrom("2026-12-01", "2026-12-02T04:05:00Z"), { nil: undefined }),
  region: fc.option(fc.constant("us"), { nil: undefined }),
  service_tier: fc.option(fc.constantFrom("fast", "flex"), { nil: undefined }),
  batch: fc.option(fc.boolean(), { nil: undefined }),
  factor: fc.option(fc.constantFrom("0.5", "1.1", "2"), { nil: undefined }),
  prompt: fc.option(fc.constantFrom("0.1", "1", "3"), { nil: undefined }),
  input_cache_read: fc.option(fc.constantFrom("0.01", "4"), { nil: undefined }),
  completion: fc.option(fc.constantFrom("0", "2", "7"), { nil: undefined }),
}).map(({ hours, ...entry }) => {
  const hour = (value: number) => `${String(value).padStart(2, "0")}:00`;
  const written = {
    ...entry,
    ...hours && { utc_start: hour(hours[0]), utc_end: hour(hours[1]) },
    // At least one condition.
    ...entry.min_prompt_tokens === undefined && { min_prompt_tokens: 50 },
  };
  return Object.fromEntries(Object.entries(written).filter(([, value]) => value !== undefined));
});

Deno.test("what a request can reach is never below what it is charged: any bands, hours, dates, tiers and factors", () => {
  fc.assert(
    fc.property(
      fc.array(anyEntry, { maxLength: 6 }),
      fc.record({
        minutes: fc.nat(3 * 24 * 60),
        spanMinutes: fc.nat(300),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
        maxPromptTokens: fc.nat(300),
        promptTokens: fc.nat(300),
        region: fc.constantFrom(null, "us"),
        serviceTier: fc.constantFrom(null, "fast", "flex", "batch"),
      }),
      (overrides, { minutes, spanMinutes, share, maxPromptTokens, promptTokens, region, serviceTier }) => {
        const { prices } = modelOf({
          id: "a/b",
          pricing: { prompt: "1", completion: "2", overrides },
          pricing_tiers: { fast: { prompt: "2", overrides: [{ min_prompt_tokens: 120, prompt: "5" }] } },
        });
        const at = MONDAY + minutes * MINUTE_MS;
        const until = at + spanMinutes * MINUTE_MS;
        const held = highestPricesIn(prices, { at, until, maxPromptTokens, region, serviceTier });
        const charged = pricesIn(prices, {
          at: Math.floor(at + share * (until - at)),
          promptTokens: Math.min(promptTokens, maxPromptTokens),
          region,
          serviceTier,
        }).tariff;
        return PRICE_KEYS.every((key) => charged[key] <= held[key]);
      },
    ),
    { numRuns: 2_000 },
  );
});
