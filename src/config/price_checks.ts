import { isPricedByMillion, maxPlausiblePrice, PRICE_NAMES } from "../money/billing/prices/tariff.ts";
import type { SecondPrices } from "../vendors/catalog/sections/media_sections.ts";
import { hasStatedPrice, type Model } from "../vendors/catalog/model.ts";
import type { PriceList, Pricing } from "../vendors/catalog/prices/price_list.ts";
import { PER_MILLION, priceOfOne } from "../platform/names/per_million.ts";
import type { Problems } from "./tree/problems.ts";
import type { Path } from "./tree/setting_path.ts";

const EXPECTATION = 'at least one price, or "free" for a model that costs nothing';
/** The providers of simulated vendors. Source: docs/sandbox.md. */
const SANDBOX = /^sandbox(?:-|$)/;

/**
 * Refuses models without a price, which would be served free. Those of simulated vendors need none. Models of a
 * provider's list without a price are left out elsewhere.
 *
 * @param models The models that could be read, each with its index in the list.
 */
export function refuseUnpriced(models: readonly (readonly [index: number, model: Model])[], problems: Problems): void {
  for (const [index, model] of models) {
    const isSimulated = model.serves.every(({ provider }) => SANDBOX.test(provider));
    if (isSimulated || hasStatedPrice(model)) continue;
    problems.addPlain(["models", index, "pricing"], `${EXPECTATION} ("${model.id}")`, "nothing");
  }
}

/**
 * Refuses prices that no vendor has. The likeliest is the price of a million tokens for one, with which the first
 * request costs thousands.
 *
 * @param models As for {@linkcode refuseUnpriced}.
 */
export function refuseImplausiblePrices(
  models: readonly (readonly [index: number, model: Model])[],
  problems: Problems,
): void {
  for (const [index, { prices, video }] of models) {
    const at = ["models", index];
    refuseHigh(prices, [...at, "pricing"], problems);
    for (const [tier, list] of Object.entries(prices.tiers)) refuseHigh(list, [...at, "pricing_tiers", tier], problems);
    if (video !== null) refuseHighSeconds(video.pricePerSecond, [...at, "video", "price_per_second"], problems);
  }
}

function refuseHigh({ pricing, overrides }: PriceList, at: Path, problems: Problems): void {
  refuseHighPrices(pricing, at, problems);
  overrides.forEach((override, index) => {
    const place = [...at, "overrides", index];
    refuseHighPrices(override.pricing, place, problems);
    refuseHighSeconds(override.pricePerSecond, [...place, "price_per_second"], problems);
  });
}

function refuseHighPrices(pricing: Pricing, at: Path, problems: Problems): void {
  for (const name of PRICE_NAMES) {
    const price = pricing[name];
    const max = maxPlausiblePrice(name);
    if (price === undefined || Number(price) <= max) continue;
    const meant = isPricedByMillion(name)
      ? `; the price of a million is written ${name}${PER_MILLION}: "${price}", or ${name}: "${priceOfOne(price)}"`
      : "";
    problems.add([...at, name], `a price of at most ${max} USD${meant}`, price);
  }
}

function refuseHighSeconds(prices: SecondPrices, at: Path, problems: Problems): void {
  const max = maxPlausiblePrice(null);
  for (const [name, price] of Object.entries(prices)) {
    if (Number(price) > max) problems.add([...at, name], `a price of at most ${max} USD`, price);
  }
}
