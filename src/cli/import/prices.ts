import { readRate } from "../../lib/money.ts";
import { numberIn, type SourceMap } from "./source.ts";

/** Prices as an operator writes them, by their names in `pricing`. */
export type WrittenPrices = Readonly<Record<string, string>>;

/** The names of prices in LiteLLM's model information, with ours. Source: `model_prices_and_context_window.json`. */
const NAMES: Readonly<Record<string, string>> = {
  input_cost_per_token: "prompt",
  output_cost_per_token: "completion",
  cache_read_input_token_cost: "input_cache_read",
  cache_creation_input_token_cost: "input_cache_write_5m",
  cache_creation_input_token_cost_above_1hr: "input_cache_write_1h",
  input_cost_per_token_cache_hit: "input_cache_read",
  cache_read_input_audio_token_cost: "audio_cache_read",
  input_cost_per_audio_token: "audio",
  output_cost_per_audio_token: "audio_output",
  input_cost_per_image_token: "image_input",
  output_cost_per_image_token: "image_output",
  input_cost_per_image: "per_input_image",
  output_cost_per_image: "per_image",
};

/** Prices that depend on more than the kind of token, for which there is no setting. */
const UNKNOWN = /^(in|out)put_cost_per_|_token_cost|_cost_per_/;
const TIERS = ["priority", "flex"] as const;

/** The prices of a model. */
export interface ReadPrices {
  /** Null without a price of tokens. */
  readonly pricing: WrittenPrices | null;
  /** By service tier; empty without one. */
  readonly tiers: Readonly<Record<string, WrittenPrices>>;
  /** The fields with prices that have no counterpart. */
  readonly dropped: readonly string[];
}

/** Reads prices in LiteLLM's fields. Free prices are prices too. */
export function readPrices(fields: SourceMap): ReadPrices {
  const pricing: Record<string, string> = {};
  const tiers: Record<string, Record<string, string>> = {};
  const dropped: string[] = [];
  for (const [field, value] of Object.entries(fields)) {
    if (!UNKNOWN.test(field) || numberIn(value) === null) continue;
    const tier = TIERS.find((each) => field.endsWith(`_${each}`));
    const name = NAMES[tier === undefined ? field : field.slice(0, -tier.length - 1)];
    const price = decimalOf(numberIn(value));
    if (name === undefined || price === null) {
      if (numberIn(value) !== 0) dropped.push(field);
    } else if (tier === undefined) pricing[name] = price;
    else (tiers[tier] ??= {})[name] = price;
  }
  const hasPrice = pricing.prompt !== undefined || pricing.completion !== undefined;
  return { pricing: hasPrice ? pricing : null, tiers: hasPrice ? tiers : {}, dropped };
}

/** A price as a decimal without an exponent; null if it cannot be charged. */
export function decimalOf(value: number | null): string | null {
  if (value === null || value < 0) return null;
  const [mantissa = "", exponent = "0"] = value.toString().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const point = whole.length + Number(exponent);
  const digits = (whole + fraction).padEnd(point, "0");
  const decimal = point > 0
    ? `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.$/, "")
    : `0.${"0".repeat(-point)}${digits}`;
  try {
    readRate(decimal);
    return decimal;
  } catch {
    return null;
  }
}
