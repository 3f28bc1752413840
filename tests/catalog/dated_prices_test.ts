import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import * as z from "zod";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import { NO_LISTED, withDiscovered } from "../../src/vendors/catalog/listed_step.ts";
import { LiveCatalog } from "../../src/vendors/catalog/live_catalog.ts";
import type { Model } from "../../src/vendors/catalog/model.ts";
import { pricesIn } from "../../src/vendors/catalog/prices/price_list.ts";
import { writePriceOverrides, writePricing, writeRedirect } from "../../src/vendors/catalog/written.ts";
import { readRate } from "../../src/platform/lib/basics/money.ts";
import { modelOf } from "./support.ts";

const FROM = Date.parse("2027-01-01T00:00:00Z");
const LATER = Date.parse("2027-02-01T08:00:00Z");
const DAY_MS = 86_400_000;

const talk = modelOf({
  id: "lumen/talk",
  pricing: {
    prompt: "0.000001",
    completion: "0.000004",
    input_cache_read: "0.0000001",
    overrides: [
      { from: "2027-01-01", prompt: "0.000002", completion: "0.000008" },
      { from: "2027-02-01T08:00:00Z", completion: "0.000006" },
    ],
  },
  pricing_tiers: {
    flex: { prompt: "0.0000005", overrides: [{ from: "2027-01-01", prompt: "0.0000015" }] },
    fast: { completion: "0.000009" },
  },
});

function pathsOf(fields: Record<string, unknown>): string[] {
  const error = assertThrows(() => modelOf({ id: "a/b", ...fields }), z.ZodError) as z.ZodError;
  return error.issues.map(({ path }) => path.join("."));
}

function modelIn(models: readonly Model[], id: string, at: number): Model {
  const model = createCatalog(models).at(at).find(id);
  assert(model !== null);
  return model;
}

Deno.test("a price with a date applies from its instant on, and not a millisecond before", () => {
  const rateAt = (at: number) => modelIn([talk], "lumen/talk", at).tariff.prompt;
  assertEquals(rateAt(FROM - 1), readRate("0.000001"));
  assertEquals(rateAt(FROM), readRate("0.000002"));
  assertEquals(rateAt(FROM + 10_000 * DAY_MS), readRate("0.000002"));
});

Deno.test("a later entry replaces earlier ones key by key, and keys that it lacks keep their price", () => {
  const { pricing, tariff } = modelIn([talk], "lumen/talk", LATER);
  assertEquals(pricing, { prompt: "0.000002", completion: "0.000006", input_cache_read: "0.0000001" });
  assertEquals(tariff.completion, readRate("0.000006"));
  assertEquals(tariff.input_cache_read, readRate("0.0000001"));
});

Deno.test("a tier has its own dates, and takes the model's price of the moment where it has none", () => {
  const tariffOf = (serviceTier: string, at: number) =>
    pricesIn(talk.prices, { at, promptTokens: 0, serviceTier, region: null }).tariff;
  assertEquals(tariffOf("flex", FROM - 1).prompt, readRate("0.0000005"));
  assertEquals(tariffOf("fast", FROM - 1).prompt, readRate("0.000001"));
  assertEquals(tariffOf("flex", FROM).prompt, readRate("0.0000015"));
  const fast = tariffOf("fast", FROM);
  assertEquals([fast.prompt, fast.completion], [readRate("0.000002"), readRate("0.000009")]);
});

Deno.test("a second of video has dated prices by its resolution", () => {
  const reel = modelOf({
    id: "lumen/reel",
    pricing: { overrides: [{ from: "2027-01-01", price_per_second: { "720p": "0.2" } }] },
    video: { modes: ["text2video"], price_per_second: { "720p": "0.1", "1080p": "0.3" } },
  });
  const secondsAt = (at: number) => modelIn([reel], "lumen/reel", at).video?.pricePerSecond;
  assertEquals(secondsAt(FROM - 1), { "720p": "0.1", "1080p": "0.3" });
  assertEquals(secondsAt(FROM), { "720p": "0.2", "1080p": "0.3" });
  const before = modelIn([reel], "lumen/reel", FROM - 1);
  assertEquals(writePriceOverrides(before), [{ from: "2027-01-01T00:00:00Z", per_second_720p: "0.2" }]);
});

Deno.test("a catalog shows the prices of the moment, and beside them those that are still to come", () => {
  const now = modelIn([talk], "lumen/talk", FROM);
  assertEquals(writePricing(now), { prompt: "0.000002", completion: "0.000008", input_cache_read: "0.0000001" });
  const tiers = [
    { service_tier: "flex", prompt: "0.0000015" },
    { service_tier: "fast", completion: "0.000009" },
  ];
  assertEquals(writePriceOverrides(now), [
    { from: "2027-02-01T08:00:00Z", completion: "0.000006" },
    ...tiers,
  ]);
  assertEquals(writePriceOverrides(modelIn([talk], "lumen/talk", LATER)), tiers);
});

Deno.test("a model that was read before a change keeps its price, and so it does when models are replaced", () => {
  const live = new LiveCatalog([talk], []);
  const before = live.at(FROM - 1).find("lumen/talk");
  live.at(FROM).find("lumen/talk");
  live.replaceListed(withDiscovered(NO_LISTED, [modelOf({ id: "other/talk" })]));
  assertEquals(before?.tariff.prompt, readRate("0.000001"));
  assertEquals(live.at(FROM).find("other/talk")?.id, "other/talk");
});

Deno.test("between two changes a catalog is the same object, so that lists are prepared once", () => {
  const catalog = createCatalog([talk]);
  assertStrictEquals(catalog.at(FROM), catalog.at(LATER - 1));
  assertStrictEquals(catalog.at(0), catalog.at(FROM - 1));
  assert(catalog.at(FROM) !== catalog.at(LATER));
});

Deno.test("readModel() refuses a dated price that is not one, and names its place", () => {
  const priced = (override: Record<string, unknown>) => pathsOf({ pricing: { prompt: "1", overrides: [override] } });
  assertEquals(priced({ from: "soon", prompt: "1" }), ["pricing.overrides.0.from"]);
  assertEquals(priced({ prompt: "1" }), ["pricing.overrides.0.from"]);
  assertEquals(priced({ from: "2027-02-30", prompt: "1" }), ["pricing.overrides.0.from"]);
  assertEquals(priced({ from: "2027-01-01", prompt: "-1" }), ["pricing.overrides.0.prompt"]);
  assertEquals(priced({ from: "2027-01-01", prompt: 1 }), ["pricing.overrides.0.prompt"]);
  assertEquals(priced({ from: "2027-01-01", character: "1" }), ["pricing.overrides.0.character"]);
  assertEquals(priced({ from: "2027-01-01", price_per_second: { default: "1" } }), [
    "pricing.overrides.0.price_per_second",
  ]);
  const overrides = [{ from: "2027-02-01", prompt: "1" }, { from: "2027-01-01", prompt: "2" }];
  assertEquals(pathsOf({ pricing: { overrides } }), ["pricing.overrides.1.from"]);
  assertEquals(pathsOf({ pricing_tiers: { flex: { overrides } } }), ["pricing_tiers.flex.overrides.1.from"]);
});

const old = modelOf({
  id: "lumen/old",
  name: "Old",
  context_length: 100,
  pricing: { prompt: "0.000009" },
  redirected_to: { model: "talk", from: "2026-12-01" },
  serves: [{ provider: "one", weight: 2 }, { provider: "two", model: "hosted-old" }],
});
const REDIRECTED = Date.parse("2026-12-01T00:00:00Z");

Deno.test("from its date on, a redirected model has the price and the name at the vendor of the one that answers", () => {
  const before = modelIn([old, talk], "lumen/old", REDIRECTED - 1);
  assertEquals([before.tariff.prompt, before.contextLength], [readRate("0.000009"), 100]);
  assertEquals(before.serves[0]?.model, "old");
  const after = modelIn([old, talk], "lumen/old", REDIRECTED);
  assertEquals([after.id, after.name, after.contextLength], ["lumen/old", "Old", 0]);
  assertEquals(after.tariff.prompt, readRate("0.000001"));
  assertEquals(after.serves, [
    { provider: "one", model: "talk", weight: 2 },
    { provider: "two", model: "hosted-old", weight: 1 },
  ]);
  for (const model of [before, after]) {
    assertEquals(writeRedirect(model), { model: "lumen/talk", from: "2026-12-01T00:00:00Z" });
  }
});

Deno.test("a redirected model follows the dated prices of the one that answers", () => {
  assertEquals(modelIn([old, talk], "lumen/old", FROM).tariff.prompt, readRate("0.000002"));
  const dates = writePriceOverrides(modelIn([old, talk], "lumen/old", REDIRECTED))?.filter(({ from }) => from);
  assertEquals(dates?.length, 3);
});

Deno.test("redirects in a chain lead to its end, and in a circle they end", () => {
  const older = modelOf({ id: "lumen/older", redirected_to: { model: "old", from: "2026-11-01" } });
  assertEquals(modelIn([older, old, talk], "lumen/older", REDIRECTED - 1).tariff.prompt, readRate("0.000009"));
  assertEquals(modelIn([older, old, talk], "lumen/older", REDIRECTED).serves[0]?.model, "talk");
  const one = modelOf({ id: "lumen/one", redirected_to: { model: "two", from: "2026-11-01" } });
  const two = modelOf({ id: "lumen/two", redirected_to: { model: "one", from: "2026-11-01" } });
  assertEquals(modelIn([one, two], "lumen/one", FROM).id, "lumen/one");
});

Deno.test("a redirect to a model that no provider of it serves changes nothing", () => {
  const model = modelIn([old], "lumen/old", REDIRECTED);
  assertEquals([model.tariff.prompt, model.serves[0]?.model], [readRate("0.000009"), "old"]);
  assertEquals(writeRedirect(model), null);
});
