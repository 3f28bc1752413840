import { assert, assertEquals } from "@std/assert";
import { builtInModels } from "../../src/vendors/catalog/built_in.ts";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import type { Model } from "../../src/vendors/catalog/model.ts";
import { BUILT_IN_VENDORS } from "../../src/vendors/upstreams/vendors.ts";
import { readRate } from "../../src/platform/lib/basics/money.ts";
import { pricedTiers, pricesIn } from "../../src/vendors/catalog/prices/price_list.ts";
import { ownValue } from "../../src/platform/lib/collections/own_value.ts";
import table from "./vendor_prices.json" with { type: "json" };

/** A published price: one row of the table. */
interface PublishedPrice {
  readonly model: string;
  /** A service tier; absent for the default one. */
  readonly tier?: string;
  /** The day from which it applies; absent for a price that applied on the day on which it was seen. */
  readonly from?: string;
  /** The prompt has more tokens than this. Absent for small prompts. */
  readonly above?: number;
  /** Whether it is the price of requests in batches. */
  readonly batch?: boolean;
  /** Whether it is the price of the vendor's peak hours. */
  readonly peak?: boolean;
  readonly key: string;
  /** USD for a million tokens, a thousand calls or a minute of audio, as vendors publish it. */
  readonly value: string;
  readonly unit: string;
  readonly source: string;
  readonly seen: string;
}

const rows: readonly PublishedPrice[] = table.prices;
const builtIn = builtInModels(new Set(BUILT_IN_VENDORS));
const catalog = createCatalog(builtIn);
const UNITS: Readonly<Record<string, bigint>> = { million: 1_000_000n, thousand: 1_000n, minute: 60n };
/** A moment within the peak hours of each vendor that has them: a Monday. */
const PEAK = Date.parse("2026-11-30T02:00:00Z");

function modelAt({ model, from, seen }: PublishedPrice): Model {
  const found = catalog.at(Date.parse(from ?? seen)).find(model);
  assert(found !== null, `no built-in model ${model}`);
  return found;
}

function pricesOf(row: PublishedPrice): Readonly<Record<string, string | undefined>> {
  const { prices } = modelAt(row);
  if (row.tier !== undefined) assert(pricedTiers(prices).includes(row.tier), `${row.model} has no tier ${row.tier}`);
  return pricesIn(prices, {
    at: row.peak === true ? PEAK : Date.parse(row.from ?? row.seen),
    promptTokens: (row.above ?? -1) + 1,
    serviceTier: row.batch === true ? "batch" : row.tier ?? null,
    region: null,
  }).pricing;
}

const placeOf = ({ model, tier = "default", from = "now", above = 0, batch, peak }: PublishedPrice) =>
  [model, tier, from, above, batch === true ? "batch" : "", peak === true ? "peak" : ""].join(" ");

Deno.test("every published price is the built-in one, on both sides of each date", () => {
  for (const row of rows) {
    const own = pricesOf(row)[row.key];
    assert(own !== undefined, `${placeOf(row)}: no price ${row.key}`);
    const unit = ownValue(UNITS, row.unit);
    assert(unit !== undefined, `${placeOf(row)}: unit ${row.unit}`);
    // Compared as integers, since the published price of a unit need not be a decimal of a token.
    assertEquals(readRate(own) * unit, readRate(row.value), `${placeOf(row)}: ${row.key}`);
  }
});

/** Prices of before that no source confirmed. */
const isUnseen = (id: string, key: string) => table.unseen.some((row) => row.model === id && row.key === key);

/** Prices that a date leaves as they are, or that are those of the model that answers in this one's place. */
const isUndated = (id: string, key: string) =>
  rows.some((row) => row.model === id && row.key === key && row.from === undefined) ||
  builtIn.some((model) => model.id === id && model.redirect !== null);

Deno.test("a built-in model of the table has no price that the table lacks", () => {
  const usual = rows.filter(({ above, batch, peak }) => above === undefined && !batch && !peak);
  for (const place of new Set(usual.map(placeOf))) {
    const same = usual.filter((row) => placeOf(row) === place);
    const [row] = same;
    assert(row !== undefined);
    const listed = new Set(same.map(({ key }) => key));
    const own = row.tier === undefined
      ? modelAt(row).pricing
      : ownValue(modelAt(row).prices.tiers, row.tier)?.pricing ?? {};
    for (const key of Object.keys(own)) {
      assert(listed.has(key) || isUndated(row.model, key) || isUnseen(row.model, key), `${place}: ${key}`);
    }
  }
});

Deno.test("each date, band and peak of the built-in prices is in the table", () => {
  for (const { id, prices } of builtIn) {
    for (const [tier, { overrides }] of [[undefined, prices] as const, ...Object.entries(prices.tiers)]) {
      for (const { from, minPromptTokens, hours, factor, batch } of overrides) {
        const isSame = (row: PublishedPrice) =>
          row.model === id && (row.tier === tier || isDerived(id, tier)) && (batch ?? false) === (row.batch ?? false) &&
          (from === null || Date.parse(row.from ?? "") === from || isDerived(id, tier)) &&
          row.above === (minPromptTokens ?? undefined) && (row.peak ?? false) === (hours !== null);
        if (factor === null) assert(rows.some(isSame), `${id} ${tier} ${from} ${minPromptTokens} ${hours?.start}`);
      }
    }
  }
});

/** Tiers whose bands and dates are the vendor's rule: the factor of the tier on the published price. */
function isDerived(id: string, tier: string | undefined): boolean {
  return tier !== undefined && /^(?:openai|google)\//.test(id);
}

Deno.test("every built-in model is in the table, or is named as one whose price was not seen", () => {
  const listed = new Set(rows.map(({ model }) => model));
  assertEquals(builtIn.map(({ id }) => id).filter((id) => !listed.has(id)).sort(), [...table.unlisted].sort());
});

Deno.test("every row names a source that the table explains, and a day", () => {
  for (const row of rows) {
    for (const source of row.source.split(", ")) assert(source in table.sources, `${placeOf(row)}: ${source}`);
    assert(/^\d{4}-\d{2}-\d{2}$/.test(row.seen), placeOf(row));
  }
});

Deno.test("docs/models.md names the day of the prices", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/models.md", import.meta.url));
  const day = new Date(table.asOf);
  const text = day.toLocaleDateString("en-US", { timeZone: "UTC", day: "numeric", month: "long", year: "numeric" });
  assert(page.includes(`as of ${text}`), `docs/models.md has to say "as of ${text}"`);
});
