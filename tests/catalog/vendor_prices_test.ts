import { assert, assertEquals } from "@std/assert";
import { builtInModels } from "../../src/catalog/built_in.ts";
import { createCatalog } from "../../src/catalog/catalog.ts";
import type { Model } from "../../src/catalog/model.ts";
import { VENDORS } from "../../src/config/environment.ts";
import { readRate } from "../../src/lib/money.ts";
import { ownValue } from "../../src/lib/own_value.ts";
import table from "./vendor_prices.json" with { type: "json" };

/** A published price: one row of the table. */
interface PublishedPrice {
  readonly model: string;
  /** A service tier; absent for the default one. */
  readonly tier?: string;
  /** The day from which it applies; absent for a price that applied on the day on which it was seen. */
  readonly from?: string;
  readonly key: string;
  /** USD for a million tokens or for a minute of audio, as vendors publish it. */
  readonly value: string;
  readonly unit: string;
  readonly source: string;
  readonly seen: string;
}

const rows: readonly PublishedPrice[] = table.prices;
const builtIn = builtInModels(new Set(VENDORS.map(({ provider }) => provider)));
const catalog = createCatalog(builtIn);
const UNITS: Readonly<Record<string, bigint>> = { million: 1_000_000n, minute: 60n };

function modelAt({ model, from, seen }: PublishedPrice): Model {
  const found = catalog.at(Date.parse(from ?? seen)).find(model);
  assert(found !== null, `no built-in model ${model}`);
  return found;
}

function pricesAt(row: PublishedPrice): Readonly<Record<string, string | undefined>> {
  const model = modelAt(row);
  if (row.tier === undefined) return model.pricing;
  const own = ownValue(model.tierPrices, row.tier);
  assert(own !== undefined, `${row.model} has no tier ${row.tier}`);
  return { ...model.pricing, ...own.pricing };
}

const placeOf = ({ model, tier = "default", from = "now" }: PublishedPrice) => `${model} ${tier} ${from}`;

Deno.test("every published price is the built-in one, on both sides of each date", () => {
  for (const row of rows) {
    const own = pricesAt(row)[row.key];
    assert(own !== undefined, `${placeOf(row)}: no price ${row.key}`);
    const unit = ownValue(UNITS, row.unit);
    assert(unit !== undefined, `${placeOf(row)}: unit ${row.unit}`);
    // Compared as integers, since the published price of a unit need not be a decimal of a token.
    assertEquals(readRate(own) * unit, readRate(row.value), `${placeOf(row)}: ${row.key}`);
  }
});

/** Prices of before that no source confirmed. */
const isUnseen = (id: string, key: string) => table.unseen.some((row) => row.model === id && row.key === key);

Deno.test("a built-in model of the table has no price that the table lacks", () => {
  for (const place of new Set(rows.map(placeOf))) {
    const same = rows.filter((row) => placeOf(row) === place);
    const [row] = same;
    assert(row !== undefined);
    const listed = new Set(same.map(({ key }) => key));
    const own = row.tier === undefined
      ? modelAt(row).pricing
      : ownValue(modelAt(row).tierPrices, row.tier)?.pricing ?? {};
    for (const key of Object.keys(own)) assert(listed.has(key) || isUnseen(row.model, key), `${place}: ${key}`);
  }
});

Deno.test("each date of the built-in catalog is in the table", () => {
  for (const { id, priceChanges, tierPrices } of builtIn) {
    for (const { from } of priceChanges) assert(hasRow(id, undefined, from), id);
    for (const [tier, { changes }] of Object.entries(tierPrices)) {
      for (const { from } of changes) assert(hasRow(id, tier, from), `${id} ${tier}`);
    }
  }
});

function hasRow(id: string, tier: string | undefined, at: number): boolean {
  return rows.some((row) => row.model === id && row.tier === tier && Date.parse(row.from ?? "") === at);
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
