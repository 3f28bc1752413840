import {
  highestTariff,
  type PriceName,
  readTariff,
  type Tariff,
  TOKEN_PRICES,
} from "../../../money/billing/prices/tariff.ts";
import { multiplyRate, readRate, writeRate } from "../../../platform/lib/basics/money.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import type { SecondPrices } from "../sections/media_sections.ts";
import {
  areConditionsMet,
  BATCH_TIER,
  changesWithin,
  conditionsText,
  isTimeMet,
  isTimeOnly,
  type PriceConditions,
  type PriceSituation,
} from "./price_conditions.ts";

/** Prices in decimal USD as the operator wrote them, by what they apply to. Anything without a price is free. */
export type Pricing = Readonly<Partial<Record<PriceName, string>>>;

/** Prices that apply while conditions hold. Keys that it lacks keep their price. */
export interface PriceOverride extends PriceConditions {
  readonly pricing: Pricing;
  /** Of a second of video, as in `VideoSection.pricePerSecond`. Default: none. */
  readonly pricePerSecond: SecondPrices;
  /** A decimal that multiplies the prices of tokens, those of all other entries included; null for none. */
  readonly factor: string | null;
}

/** Prices, and how they change. */
export interface PriceList {
  readonly pricing: Pricing;
  /** Of those whose conditions hold, a later one wins for each key. */
  readonly overrides: readonly PriceOverride[];
}

/** All prices of a model. */
export interface ModelPrices extends PriceList {
  /**
   * The own prices of other service tiers by the tier's lower-case name, which are applied after those of the model.
   * Default: none.
   */
  readonly tiers: Readonly<Record<string, PriceList>>;
}

/** The prices that apply in one situation. */
export interface AppliedPrices {
  readonly pricing: Pricing;
  readonly tariff: Tariff;
  /** Of a second of video. */
  readonly pricePerSecond: SecondPrices;
  /** The conditions that decided, in a few words each: `above 272000 prompt tokens`. Often empty. */
  readonly reasons: readonly string[];
}

/** By the conditions that hold; a price list has few combinations of them that occur. */
const applied = new WeakMap<ModelPrices, Map<string, AppliedPrices>>();

/** The prices of a situation. The same object as long as the same conditions hold. */
export function pricesIn(prices: ModelPrices, situation: PriceSituation): AppliedPrices {
  const all = heldEntries(prices, situation.serviceTier, (each) => areConditionsMet(each, situation));
  const { held, tier, own, heldOfTier } = all;
  const key = own === undefined ? keyOf(prices, held) : `${tier} ${keyOf(prices, held)} ${keyOf(own, heldOfTier)}`;
  let made = applied.get(prices);
  if (made === undefined) applied.set(prices, made = new Map());
  let found = made.get(key);
  if (found === undefined) made.set(key, found = apply(all));
  return found;
}

function keyOf({ overrides }: PriceList, held: readonly PriceOverride[]): string {
  if (held.length === 0) return "";
  return held.map((each) => overrides.indexOf(each)).join();
}

/** The entries that hold, of the model and of a tier. */
interface Held {
  readonly prices: ModelPrices;
  readonly held: readonly PriceOverride[];
  readonly tier: string | null;
  readonly own: PriceList | undefined;
  readonly heldOfTier: readonly PriceOverride[];
}

function heldEntries(prices: ModelPrices, tier: string | null, isMet: (each: PriceOverride) => boolean): Held {
  const own = tier === null ? undefined : ownValue(prices.tiers, tier);
  const heldOfTier = own?.overrides.filter(isMet) ?? [];
  return { prices, held: prices.overrides.filter(isMet), tier, own, heldOfTier };
}

function apply({ prices, held, tier, own, heldOfTier }: Held): AppliedPrices {
  const all = [...held, ...heldOfTier];
  const plain: Pricing = Object.assign(
    {},
    prices.pricing,
    ...held.map(({ pricing }) => pricing),
    own?.pricing,
    ...heldOfTier.map(({ pricing }) => pricing),
  );
  const pricing = all.reduce((list, { factor }) => factor === null ? list : multiplied(list, factor), plain);
  const texts = all.map(conditionsText);
  return {
    pricing,
    tariff: readTariff(pricing),
    pricePerSecond: Object.assign({}, ...all.map(({ pricePerSecond }) => pricePerSecond)),
    reasons: [...new Set([...texts, ...own === undefined || tier === null ? [] : [`tier ${tier}`]])],
  };
}

/** The prices with those of tokens multiplied. Fees stay as they are. */
function multiplied(pricing: Pricing, factor: string): Pricing {
  const entries = Object.entries(pricing) as [PriceName, string][];
  return Object.fromEntries(
    entries.map(([name, price]) => [
      name,
      TOKEN_PRICES.has(name) ? writeRate(multiplyRate(readRate(price), factor)) : price,
    ]),
  );
}

/** Everything that a request can reach until it is charged. */
export interface PriceReach extends Omit<PriceSituation, "promptTokens"> {
  /** Unix milliseconds, not before `at`: the latest moment at which it can begin. */
  readonly until: number;
  /** The most tokens that its prompt can have. */
  readonly maxPromptTokens: number;
}

/**
 * The highest price of each key that a request can reach: of the bands up to its size, and of the hours until it
 * begins.
 */
export function highestPricesIn(prices: ModelPrices, reach: PriceReach): Tariff {
  const { at, until, maxPromptTokens, serviceTier, region } = reach;
  const own = serviceTier === null ? undefined : ownValue(prices.tiers, serviceTier);
  const overrides = own === undefined ? prices.overrides : [...prices.overrides, ...own.overrides];
  const moments = new Set([at, ...overrides.flatMap((each) => changesWithin(each, at, until))]);
  const sizes = new Set([0, maxPromptTokens]);
  for (const { minPromptTokens: least } of overrides) {
    if (least !== null && least < maxPromptTokens) sizes.add(least + 1);
  }
  let highest = pricesIn(prices, { at, promptTokens: 0, serviceTier, region }).tariff;
  for (const moment of moments) {
    for (const promptTokens of sizes) {
      const { tariff } = pricesIn(prices, { at: moment, promptTokens, serviceTier, region });
      if (tariff !== highest) highest = highestTariff(highest, tariff);
    }
  }
  return highest;
}

/** The names of all service tiers with a price, the default one excluded. */
export function pricedTiers({ tiers, overrides }: ModelPrices): readonly string[] {
  const named = overrides.flatMap(({ serviceTier }) => serviceTier === null ? [] : [serviceTier]);
  return [...new Set([...Object.keys(tiers), ...named])];
}

/** Whether a tier that a reply names has a price, that of batches included. */
export function isTierPriced(prices: ModelPrices, tier: string): boolean {
  return pricedTiers(prices).includes(tier) ||
    (tier === BATCH_TIER && prices.overrides.some(({ batch }) => batch === true));
}

/** The prices of a small request of the default tier that began at a moment, as catalogs show them. */
export function pricesAt(prices: ModelPrices, at: number): AppliedPrices {
  return pricesIn(prices, { at, promptTokens: 0, serviceTier: null, region: null });
}

/** The prices of a small request that began at a moment, if an entry held too: of the model, or of a tier. */
export function pricesWith(
  prices: ModelPrices,
  at: number,
  entry: PriceOverride | null,
  tier: string | null,
): AppliedPrices {
  const situation = { at, promptTokens: 0, serviceTier: tier, region: null };
  return apply(heldEntries(prices, tier, (each) => each === entry || areConditionsMet(each, situation)));
}

/** Whether any list of prices of a model fulfills a test, whatever its conditions. */
function hasPricing(prices: ModelPrices, isMet: (pricing: Pricing) => boolean): boolean {
  return isMetIn(prices, isMet) || Object.values(prices.tiers).some((list) => isMetIn(list, isMet));
}

function isMetIn({ pricing, overrides }: PriceList, isMet: (pricing: Pricing) => boolean): boolean {
  return isMet(pricing) || overrides.some((each) => isMet(each.pricing));
}

/** Whether any price is set: under some condition, or always. */
export function hasAnyPrice(prices: ModelPrices): boolean {
  return hasPricing(prices, (pricing) => Object.keys(pricing).length > 0);
}

/** Whether a price is set: under some condition, or always. */
export function hasPriceOf(prices: ModelPrices, name: PriceName): boolean {
  return hasPricing(prices, (pricing) => Object.hasOwn(pricing, name));
}

/** Whether an entry has taken effect for good or has lost it, so that a catalog no longer shows it. */
export function isPast(override: PriceOverride, at: number): boolean {
  const { hours, days, except, until } = override;
  if (until !== null && at >= until) return true;
  const isForGood = until === null && hours === null && days === null && except.length === 0;
  return isForGood && isTimeOnly(override) && isTimeMet(override, at);
}
