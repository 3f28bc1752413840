import { type ChargeKind, isChargeable, type PriceName } from "../../money/billing/prices/tariff.ts";
import { readRate } from "../../platform/lib/basics/money.ts";
import type { ModelUse } from "./model_use.ts";
import { mapIn, numberIn, type SourceMap } from "./source_values.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";

/** Prices as an operator writes them, by their names in `pricing`. */
export type WrittenPrices = Readonly<Record<string, string>>;

/** The names of prices in LiteLLM's model information, with ours. Source: `model_prices_and_context_window.json`. */
const NAMES: Readonly<Record<string, PriceName>> = {
  input_cost_per_token: "prompt",
  output_cost_per_token: "completion",
  cache_read_input_token_cost: "input_cache_read",
  cache_creation_input_token_cost: "input_cache_write_5m",
  cache_creation_input_token_cost_above_1hr: "input_cache_write_1h",
  input_cost_per_token_cache_hit: "input_cache_read",
  cache_read_input_audio_token_cost: "audio_cache_read",
  input_cost_per_audio_token: "audio",
  output_cost_per_audio_token: "audio_output",
  cache_read_input_image_token_cost: "image_input_cache_read",
  input_cost_per_image_token: "image_input",
  output_cost_per_image_token: "image_output",
  input_cost_per_image: "per_input_image",
  output_cost_per_image: "per_image",
  input_cost_per_character: "character",
  input_cost_per_second: "audio_second",
  output_cost_per_second: "audio_second",
  input_cost_per_query: "search_unit",
  input_cost_per_request: "request",
};

/** The names of fields with prices, known or not. */
export const LITELLM_PRICE = /^(in|out)put_cost_per_|_token_cost|_cost_per_/;
const TIERS = ["priority", "flex"] as const;
/** What the end of a field's name says of its price: `…_above_200k_tokens_priority`, `…_batches`. */
const ENDING = /^(.+?)(?:_above_(\d+)k_tokens)?(?:_(priority|flex|batches))?$/;

/** Prices under conditions, as an operator writes them. */
export type WrittenOverride = Readonly<Record<string, string | number | boolean>>;

/** Prices of a tier, as an operator writes them. */
export type WrittenTier = Readonly<Record<string, string | readonly WrittenOverride[]>>;

/** The prices of a model. */
export interface ReadPrices {
  /** Null without a price that is charged for the use. */
  readonly pricing: WrittenPrices | null;
  /** Bands of long prompts, and batches. */
  readonly overrides: readonly WrittenOverride[];
  /** By service tier; empty without one. */
  readonly tiers: Readonly<Record<string, WrittenTier>>;
  /** The fields with prices that have no counterpart. */
  readonly dropped: readonly string[];
}

/** What a model's prices are for. */
export interface PricedUse {
  readonly use: ModelUse;
  /** The charges of its endpoints. */
  readonly kinds: readonly ChargeKind[];
}

/** The prices of one tier, or of batches. */
interface TierPrices {
  readonly usual: Record<string, string>;
  /** By the tokens above which they apply. */
  readonly bands: Map<number, Record<string, string>>;
}

/** Reads prices in LiteLLM's fields. Free prices are prices too. */
export function readPrices(source: SourceMap, { use, kinds }: PricedUse): ReadPrices {
  const fields = use === "image" ? withImagePrices(source) : source;
  const byTier = new Map<string, TierPrices>();
  const pricesOf = (tier: string): TierPrices => {
    const known: TierPrices = byTier.get(tier) ?? { usual: {}, bands: new Map() };
    byTier.set(tier, known);
    return known;
  };
  const dropped: string[] = [];
  for (const [field, value] of Object.entries(fields)) {
    const amount = numberIn(value);
    if (!LITELLM_PRICE.test(field) || amount === null) continue;
    const { base, above, tier } = endingOf(field);
    const name = ownValue(NAMES, base);
    const price = decimalOf(amount);
    const isKept = name !== undefined && price !== null && isChargeable(name, kinds) && !isRepeated(name, fields) &&
      ((tier === DEFAULT_TIER && above === null) || use === "text");
    if (!isKept) {
      if (amount !== 0) dropped.push(field);
      continue;
    }
    const { usual, bands } = pricesOf(tier);
    const prices = above === null ? usual : bands.get(above) ?? {};
    if (above !== null) bands.set(above, prices);
    // Two fields with one price, of which one may be 0.
    if (prices[name] === undefined || Number(prices[name]) === 0) prices[name] = price;
  }
  const { usual: pricing, bands } = pricesOf(DEFAULT_TIER);
  const search = searchPriceIn(fields);
  if (search !== null && use === "text") pricing.web_search = search;
  const hasPrice = use === "text"
    ? pricing.prompt !== undefined || pricing.completion !== undefined
    : Object.keys(pricing).length > 0;
  if (!hasPrice) return { pricing: null, overrides: [], tiers: {}, dropped };
  const batches = byTier.get("batches");
  const tiers = TIERS.flatMap((tier) => {
    const own = byTier.get(tier);
    return own === undefined ? [] : [[tier, tierOf(own)] as const];
  });
  return {
    pricing,
    overrides: [...overridesOf(bands), ...batches === undefined ? [] : batchOverridesOf(batches)],
    tiers: Object.fromEntries(tiers),
    dropped,
  };
}

const DEFAULT_TIER = "";

/** `output_cost_per_token_above_272k_tokens_flex`: the price of an output token in a band of a tier. */
function endingOf(field: string): { readonly base: string; readonly above: number | null; readonly tier: string } {
  if (ownValue(NAMES, field) !== undefined) return { base: field, above: null, tier: DEFAULT_TIER };
  const [, base = field, thousands, tier = DEFAULT_TIER] = ENDING.exec(field) ?? [];
  return { base, above: thousands === undefined ? null : Number(thousands) * 1_000, tier };
}

/** The smallest band first, since a later entry wins. */
function overridesOf(bands: TierPrices["bands"], more: Readonly<Record<string, boolean>> = {}): WrittenOverride[] {
  return [...bands].sort(([one], [other]) => one - other)
    .map(([above, prices]) => ({ min_prompt_tokens: above, ...more, ...prices }));
}

function batchOverridesOf({ usual, bands }: TierPrices): WrittenOverride[] {
  const own = Object.keys(usual).length === 0 ? [] : [{ batch: true, ...usual }];
  return [...own, ...overridesOf(bands, { batch: true })];
}

function tierOf({ usual, bands }: TierPrices): WrittenTier {
  return { ...usual, ...bands.size > 0 && { overrides: overridesOf(bands) } };
}

/**
 * The price of an output image is in the field for input images where there is no other one. Source: LiteLLM,
 * `cost_calculator.py`.
 */
function withImagePrices(fields: SourceMap): SourceMap {
  const { input_cost_per_image: perImage, ...others } = fields;
  const isPriced = "output_cost_per_image" in fields || "output_cost_per_image_token" in fields;
  return perImage === undefined || isPriced ? fields : { ...others, output_cost_per_image: perImage };
}

/** Whether other fields charge for the same: an image or a second by its tokens. */
function isRepeated(name: PriceName, fields: SourceMap): boolean {
  const isPriced = (...names: string[]) => names.some((each) => (numberIn(fields[each]) ?? 0) > 0);
  if (name === "per_image") return isPriced("output_cost_per_image_token");
  if (name === "per_input_image") return isPriced("input_cost_per_image_token", "input_cost_per_token");
  return name === "audio_second" && isPriced("input_cost_per_audio_token", "input_cost_per_token");
}

/** The price of a search by the vendor's tool, if it does not depend on the size of the context. */
function searchPriceIn(fields: SourceMap): string | null {
  const prices = new Set(Object.values(mapIn(fields.search_context_cost_per_query)).map(numberIn));
  const [price = null] = prices;
  return prices.size === 1 && price !== 0 ? decimalOf(price) : null;
}

/** Digits of a number that mean something. Others are what binary fractions add: 1.6800000000000002e-7. */
const PRECISION = 15;
/** Source: docs/configuration.md#prices. */
const MAX_FRACTION = 18;

/** A price as a decimal without an exponent; null if it cannot be charged. */
export function decimalOf(value: number | null): string | null {
  if (value === null || value < 0) return null;
  const [mantissa = "", exponent = "0"] = Number(value.toPrecision(PRECISION)).toString().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const point = whole.length + Number(exponent);
  const digits = (whole + fraction).padEnd(point, "0");
  const integer = point > 0 ? digits.slice(0, point) : "0";
  const rest = point > 0 ? digits.slice(point) : "0".repeat(-point) + digits;
  const decimal = `${integer}.${rest.slice(0, MAX_FRACTION)}`.replace(/\.$/, "");
  try {
    readRate(decimal);
    return decimal;
  } catch {
    return null;
  }
}
