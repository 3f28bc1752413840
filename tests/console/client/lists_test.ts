import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { CHARGED_BY } from "../../../src/money/billing/prices/tariff.ts";
import { bytes, dollars, duration } from "../../../src/console/client/format.ts";
import {
  factRowsOf,
  matchesText,
  otherPrices,
  ownPriceKeys,
  sharesOf,
} from "../../../src/console/client/pages/models/model_facts.ts";
import { dayText, dayTexts, stepsOf, utcDaysIn } from "../../../src/console/client/components/charts/chart_axis.ts";
import { placeAfterKey } from "../../../src/console/client/components/charts/chart_keys.ts";
import { joinedNewest, newestFrom } from "../../../src/console/client/pages/requests/newest.ts";
import { readPages } from "../../../src/console/client/lists/paged.ts";
import { timelineOf } from "../../../src/console/client/pages/requests/timeline_phases.ts";
import { costByDay, dayAfter, daysBetween, lastDays } from "../../../src/console/client/pages/usage/cost_by_day.ts";
import { stacked } from "../../../src/console/client/lists/stacked.ts";
import { perMillionTokens, priceText } from "../../../src/console/client/price_text.ts";
import { TEXTS } from "../../../src/console/client/texts.ts";
import type { ListedModel, UsageGroup } from "../../../src/console/client/shapes.ts";
import { LOGGED_REQUEST } from "./samples.ts";

const listOf = (ids: readonly number[], next: string | null = null) => ({
  data: ids.map((id) => ({ id: String(id) })),
  next,
});
const idsOf = ({ data }: { readonly data: readonly { readonly id: string }[] }) => data.map(({ id }) => Number(id));

Deno.test("joinedNewest() puts new entries before the known ones, each once", () => {
  assertEquals(idsOf(joinedNewest(listOf([3, 2, 1]), listOf([5, 4, 3]))), [5, 4, 3, 2, 1]);
  assertEquals(idsOf(joinedNewest(listOf([]), listOf([2, 1]))), [2, 1]);
  assertEquals(joinedNewest(listOf([3, 2, 1], "1"), listOf([9, 8])), listOf([9, 8, 3, 2, 1], "1"));
  const same = listOf([2, 1]);
  assertEquals(joinedNewest(same, listOf([2, 1])) === same, true);
});

Deno.test("joinedNewest() starts again where entries between two readings are missing", () => {
  const newest = listOf([9, 8, 7], "7");
  assertEquals(joinedNewest(listOf([3, 2, 1]), newest), newest);
});

Deno.test("readPages() reads pages one after the other, up to the end of the list", async () => {
  const pages: Record<string, ReturnType<typeof listOf>> = {
    "": listOf([9, 8], "8"),
    8: listOf([7], "7"),
    7: listOf([6]),
  };
  const asked: string[] = [];
  const load = (after: string) => {
    asked.push(after);
    return Promise.resolve(pages[after] ?? listOf([]));
  };
  const { signal } = new AbortController();
  assertEquals(await readPages(load, 2, signal), listOf([9, 8, 7], "7"));
  assertEquals(await readPages(load, 9, signal), listOf([9, 8, 7, 6]));
  assertEquals(asked, ["", "8", "", "8", "7"]);
});

Deno.test("newestFrom() starts before the end of the newest entry, and leaves lists that are too long", () => {
  const request = { received_at: 1_000.5, duration_ms: 2_400 };
  assertEquals(newestFrom({ data: [request, { ...request, received_at: 1 }], next: null }), 1_001);
  assertEquals(newestFrom({ data: [], next: null }), null);
  assertEquals(newestFrom({ data: Array.from({ length: 1_001 }, () => request), next: null }), null);
});

Deno.test("stacked() adds the values of the series before, and the last one has the sums", () => {
  assertEquals(stacked([[1, 2], [3, null], [0, 1]]), [[1, 2], [4, 2], [4, 3]]);
  assertEquals(stacked([[1, null], [null, null]]), [[1, null], [1, null]]);
  fc.assert(fc.property(fc.array(fc.tuple(fc.nat(99), fc.nat(99)), { minLength: 1 }), (series) => {
    const sums = [0, 1].map((place) => series.reduce((sum, values) => sum + (values[place] ?? 0), 0));
    assertEquals(stacked(series).at(-1), sums);
  }));
});

Deno.test("timelineOf() keeps every phase within the request", () => {
  assertEquals(timelineOf(LOGGED_REQUEST).map(({ kind, startMs, lengthMs }) => [kind, startMs, lengthMs]), [
    ["admission", 0, 20],
    ["failed", 20, 30],
    ["attempt", 50, 100],
    ["response", 150, 50],
  ]);
  const late = { ...LOGGED_REQUEST, first_byte_ms: 900, duration_ms: 10 };
  for (const { startMs, lengthMs } of timelineOf(late)) assertEquals(startMs >= 0 && startMs + lengthMs <= 10, true);
});

Deno.test("costByDay() has a series for each group, by cost, and one for all others", () => {
  const days = ["2026-11-22", "2026-11-23"];
  const groupsOf = (rows: readonly object[]) => rows as unknown as UsageGroup[];
  const answer = {
    data: groupsOf([
      { model: "m1", day: "2026-11-22", cost: "1" },
      { model: "m2", day: "2026-11-23", cost: "5" },
      { model: "", day: "2026-11-23", cost: "0.5" },
    ]),
    others: groupsOf([{ day: "2026-11-22", cost: "2" }]),
  };
  assertEquals(costByDay({ answer, dimension: "model", days }), [
    { name: "m2", values: [0, 5] },
    { name: "m1", values: [1, 0] },
    { name: "unnamed", values: [0, 0.5] },
    { name: "others", values: [2, 0] },
  ]);
  assertEquals(costByDay({ answer: { data: answer.data }, dimension: "day", days }), [
    { name: "Cost", values: [1, 5.5] },
  ]);
});

Deno.test("charts by day have UTC days, each once, in every zone", () => {
  const zone = Deno.env.get("TZ");
  try {
    for (const each of ["America/Los_Angeles", "Pacific/Kiritimati", "UTC"]) {
      Deno.env.set("TZ", each);
      const [from, to] = ["2026-11-20", "2026-11-26"].map((day) => Date.parse(day) / 1_000) as [number, number];
      const [step = 0] = stepsOf(Infinity);
      assertEquals(
        dayTexts(utcDaysIn(from, to, step)),
        ["11-20", "11-21", "11-22", "11-23", "11-24", "11-25", "11-26"],
        each,
      );
      assertEquals(dayText(to), "2026-11-26");
    }
  } finally {
    if (zone === undefined) Deno.env.delete("TZ");
    else Deno.env.set("TZ", zone);
  }
});

Deno.test("an axis with days has no two times on one day", () => {
  assertEquals(Math.min(...stepsOf(3 * 86_400)), 86_400);
  assertEquals(Math.min(...stepsOf(3_600)), 1);
});

Deno.test("placeAfterKey() moves within the values, and Escape leaves them", () => {
  assertEquals(["ArrowLeft", "ArrowRight", "Home", "End", "PageDown"].map((key) => placeAfterKey(key, 5, 8)), [
    4,
    6,
    0,
    8,
    0,
  ]);
  assertEquals([placeAfterKey("ArrowRight", 8, 8), placeAfterKey("ArrowLeft", 0, 8)], [8, 0]);
  assertEquals([placeAfterKey("Escape", 5, 8), placeAfterKey("a", 5, 8)], [null, undefined]);
});

Deno.test("lastDays() ends with the UTC day of now", () => {
  assertEquals(lastDays(2, Date.parse("2026-03-01T00:00:00Z")), ["2026-02-28", "2026-03-01"]);
});

Deno.test("amounts, durations and sizes have few digits", () => {
  assertEquals(["25.0000000000", "0.0000130000", "-1.5", "0", "1234.5"].map(dollars), [
    "$25.00",
    "$0.000013",
    "−$1.50",
    "$0.00",
    "$1,234.50",
  ]);
  assertEquals([0, 999, 1_500, 61_000].map(duration), ["0 ms", "999 ms", "1.5 s", "1 min 1 s"]);
  assertEquals([0, 1_023, 1_536, 3 * 2 ** 30].map(bytes), ["0 B", "1023 B", "1.5 KiB", "3 GiB"]);
});

Deno.test("matchesText() finds every word in names, outputs, providers and aliases", () => {
  const model: ListedModel = {
    id: "openai/gpt-5-mini",
    name: "GPT-5 mini",
    description: "",
    context_length: 0,
    architecture: { modality: "text->text", input_modalities: ["text"], output_modalities: ["text"] },
    pricing: {},
    providers: [
      { provider: "azure-eu", model: "mini", weight: 3, facts: [] },
      {
        provider: "openai",
        model: "mini",
        weight: 1,
        facts: [
          { source: "Guide (2026-11)", facts: { can_reason: true, efforts: ["low"] } },
          { source: "facts of the model", facts: { efforts: ["high"] } },
        ],
      },
    ],
    aliases: ["fast"],
  };
  for (const text of ["", "MINI", "azure mini", "fast", " text "]) assertEquals(matchesText(model, text), true, text);
  for (const text of ["image", "azure-us", "mini large"]) assertEquals(matchesText(model, text), false, text);
  assertEquals(sharesOf(model.providers ?? []), [0.75, 0.25]);
  assertEquals(sharesOf([{ provider: "one", model: "m", weight: 0, facts: [] }]), [0]);
  assertEquals(factRowsOf(model.providers ?? []).map(({ fact, value, source }) => [fact, value, source]), [
    ["can_reason", "true", "Guide (2026-11)"],
    ["efforts", '["high"]', "facts of the model"],
  ]);
});

Deno.test("otherPrices() names the prices of pictures, videos, speech and searches", () => {
  assertEquals(otherPrices({ prompt: "0.000001", image_output: "0.00001", input_cache_read: "0.0000001" }), [
    "$10.00 per million image output tokens",
  ]);
  assertEquals(otherPrices({ per_second_480p: "0.05", per_second_720p_audio: "0.3", per_second_720p_silent: "0.1" }), [
    "$0.05 to $0.30 per second of video",
  ]);
  assertEquals(otherPrices({ character: "0.000015", request: "0" }), ["$15.00 per million characters"]);
  assertEquals(otherPrices({ per_image: "0.04", per_second_720p: "0.1" }), [
    "$0.04 per image",
    "$0.10 per second of video",
  ]);
  assertEquals(otherPrices({ prompt: "0.1", completion: "0.2", web_search: "0.01" }), []);
});

Deno.test("ownPriceKeys() has the prices that a model sets, and none that only follow them", () => {
  const rates = [
    "prompt",
    "completion",
    "input_cache_read",
    "input_cache_write_5m",
    "audio",
    "audio_output",
    "video_second",
  ];
  const pricing = { prompt: "1", completion: "2", input_cache_read: "0.1", input_cache_write: "1" };
  assertEquals(ownPriceKeys(pricing, rates), ["prompt", "completion", "input_cache_read", "input_cache_write_5m"]);
  assertEquals(ownPriceKeys({ per_second_720p: "0.1" }, rates), ["video_second"]);
});

Deno.test("perMillionTokens() is a million times the price of one, with all its digits", () => {
  const prices = ["0.00000025", "0.000002", "0.000001125", undefined];
  assertEquals(prices.map(perMillionTokens), ["$0.25", "$2.00", "$1.125", ""]);
});

Deno.test("priceText() names the unit of a price, which is a million for tokens and characters", () => {
  assertEquals(priceText("prompt", "0.000003"), "$3.00 per million tokens");
  assertEquals(priceText("input_cache_write_1h", "0.0000012345"), "$1.2345 per million tokens");
  assertEquals(priceText("character", "0.000015"), "$15.00 per million characters");
  assertEquals(priceText("per_image", "0.04"), "$0.04 per image");
  assertEquals(priceText("per_second_720p_audio", "0.3"), "$0.30 per second of video");
  assertEquals(priceText("video_second", "0.3"), "$0.30 per second of video");
  assertEquals(priceText("overrides", null), "null");
});

Deno.test("priceText() has a unit for each price key that is not for a token", () => {
  const perToken = /token|^prompt$|^completion$|cache|^image_|^audio$|^audio_output$|^video_output$|^character$/;
  const units: readonly string[] = Object.keys(TEXTS.prices.units);
  const missing = Object.keys(CHARGED_BY).filter((key) => !perToken.test(key) && !units.includes(key));
  assertEquals(missing, []);
});

Deno.test("daysBetween() lists the days of a range with its ends, up to today or a limit", () => {
  const now = Date.parse("2026-11-29T14:00:00Z");
  assertEquals(daysBetween("2026-11-27", "2026-11-28", now), ["2026-11-27", "2026-11-28"]);
  assertEquals(daysBetween("2026-11-28", "", now), ["2026-11-28", "2026-11-29"]);
  assertEquals(daysBetween("2026-11-28", "2026-11-28", now), ["2026-11-28"]);
  assertEquals(daysBetween("2026-11-29", "2026-11-01", now), ["2026-11-01"]);
  assertEquals(daysBetween("2000-01-01", "", now).length, 731);
  assertEquals(daysBetween("nothing", "", now), ["2026-11-29"]);
  assertEquals(dayAfter("2026-12-31"), "2027-01-01");
});
