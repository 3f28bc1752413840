import { type ChargeKind, isChargeable, type PriceName } from "../../billing/tariff.ts";
import { readRate } from "../../lib/money.ts";
import type { ModelUse } from "./model_use.ts";
import { mapIn, numberIn, type SourceMap } from "./source.ts";

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

/** Fields with prices, known or not. */
const PRICE = /^(in|out)put_cost_per_|_token_cost|_cost_per_/;
/** Requests in batches are not offered. */
const BATCHES = /_batches$/;
const TIERS = ["priority", "flex"] as const;

/** The prices of a model. */
export interface ReadPrices {
  /** Null without a price that is charged for the use. */
  readonly pricing: WrittenPrices | null;
  /** By service tier; empty without one. */
  readonly tiers: Readonly<Record<string, WrittenPrices>>;
  /** The fields with prices that have no counterpart. */
  readonly dropped: readonly string[];
}

/** What a model's prices are for. */
export interface PricedUse {
  readonly use: ModelUse;
  /** The charges of its endpoints. */
  readonly kinds: readonly ChargeKind[];
}

/** Reads prices in LiteLLM's fields. Free prices are prices too. */
export function readPrices(source: SourceMap, { use, kinds }: PricedUse): ReadPrices {
  const fields = use === "image" ? withImagePrices(source) : source;
  const pricing: Record<string, string> = {};
  const tiers: Record<string, Record<string, string>> = {};
  const dropped: string[] = [];
  for (const [field, value] of Object.entries(fields)) {
    const amount = numberIn(value);
    if (!PRICE.test(field) || amount === null || BATCHES.test(field)) continue;
    const tier = TIERS.find((each) => field.endsWith(`_${each}`));
    const name = NAMES[tier === undefined ? field : field.slice(0, -tier.length - 1)];
    const price = decimalOf(amount);
    const isKept = name !== undefined && price !== null && isChargeable(name, kinds) && !isRepeated(name, fields) &&
      (tier === undefined || use === "text");
    if (!isKept) {
      if (amount !== 0) dropped.push(field);
    } else if (tier !== undefined) (tiers[tier] ??= {})[name] = price;
    // Two fields with one price, of which one may be 0.
    else if (pricing[name] === undefined || Number(pricing[name]) === 0) pricing[name] = price;
  }
  const search = searchPriceIn(fields);
  if (search !== null && use === "text") pricing.web_search = search;
  const hasPrice = use === "text"
    ? pricing.prompt !== undefined || pricing.completion !== undefined
    : Object.keys(pricing).length > 0;
  return { pricing: hasPrice ? pricing : null, tiers: hasPrice ? tiers : {}, dropped };
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
