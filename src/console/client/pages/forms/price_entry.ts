import { isPricedByMillion, PRICE_NAMES, type PriceName } from "../../../../money/billing/prices/tariff.ts";
import { PER_MILLION, priceOfMillion, priceOfOne } from "../../../../platform/names/per_million.ts";
import { isJsonObject, type JsonFields } from "../configuration/merge_patch.ts";

/** A price of the form. */
export interface PriceField {
  readonly name: PriceName;
  /** Whether the text is the price of a million. */
  readonly isPerMillion: boolean;
  /** USD, as it is typed; empty to remove the price. */
  readonly text: string;
}

/** The prices of a model as a form shows them: those of tokens and characters for a million. */
export function priceFieldsOf(entry: JsonFields): PriceField[] {
  const pricing = pricingIn(entry);
  return PRICE_NAMES.flatMap((name): PriceField[] => {
    const isPerMillion = isPricedByMillion(name);
    const [ofOne, ofMillion] = [pricing[name], pricing[name + PER_MILLION]];
    if (typeof ofMillion === "string") return [{ name, isPerMillion, text: ofMillion }];
    if (typeof ofOne !== "string") return [];
    return [{ name, isPerMillion, text: isPerMillion && isDecimal(ofOne) ? priceOfMillion(ofOne) : ofOne }];
  });
}

/** The prices that a model does not have yet. */
export function otherPrices(fields: readonly PriceField[]): PriceName[] {
  return PRICE_NAMES.filter((name) => !fields.some((field) => field.name === name));
}

/** A price that is added to a form. */
export function newPrice(name: PriceName): PriceField {
  return { name, isPerMillion: isPricedByMillion(name), text: "" };
}

/** Whether a model has prices under conditions, which a form leaves as they are. */
export function hasConditions(entry: JsonFields): boolean {
  const { overrides } = pricingIn(entry);
  return Array.isArray(overrides) && overrides.length > 0 || isJsonObject(entry.pricing_tiers);
}

/** The model with the prices of a form. A price stays in its unit; a new one of tokens is for a million. */
export function withPrices(entry: JsonFields, fields: readonly PriceField[]): JsonFields {
  const pricing: Record<string, unknown> = { ...pricingIn(entry) };
  for (const name of PRICE_NAMES) {
    const wasPerMillion = Object.hasOwn(pricing, name + PER_MILLION);
    const before = pricing[name];
    delete pricing[name];
    delete pricing[name + PER_MILLION];
    const field = fields.find((each) => each.name === name);
    const text = field?.text.trim() ?? "";
    if (field === undefined || text === "") continue;
    const isNew = before === undefined || before === null;
    if (wasPerMillion || (isNew && field.isPerMillion)) pricing[name + PER_MILLION] = text;
    else pricing[name] = ofOneOrBefore(field, text, before);
  }
  return { ...entry, pricing };
}

/** A price of a second of video. */
export interface SecondPriceField {
  /** A resolution or `default`, with or without its sound: `720p_audio`. */
  readonly name: string;
  /** USD, as it is typed. */
  readonly text: string;
}

/** The prices of seconds that a model has. */
export function secondFieldsOf(entry: JsonFields): SecondPriceField[] {
  return Object.entries(secondsIn(entry)).map(([name, price]) => ({ name, text: String(price) }));
}

/** The model with the prices of seconds of a form. The same price in other digits is no change. */
export function withSecondPrices(entry: JsonFields, fields: readonly SecondPriceField[]): JsonFields {
  if (!isJsonObject(entry.video)) return entry;
  const before = secondsIn(entry);
  const prices = fields.map(({ name, text }) => {
    const known = before[name];
    return [name, Number(known) === Number(text) ? known : text.trim()];
  });
  return { ...entry, video: { ...entry.video, price_per_second: Object.fromEntries(prices) } };
}

function secondsIn({ video }: JsonFields): JsonFields {
  return isJsonObject(video) && isJsonObject(video.price_per_second) ? video.price_per_second : {};
}

/** The same price in other digits is no change. */
function ofOneOrBefore({ isPerMillion }: PriceField, text: string, before: unknown): unknown {
  // What is no number stays as it is, so that the gateway names the field.
  const price = isPerMillion && isDecimal(text) ? priceOfOne(text) : text;
  return typeof before === "string" && Number(before) === Number(price) ? before : price;
}

function pricingIn({ pricing }: JsonFields): JsonFields {
  return isJsonObject(pricing) ? pricing : {};
}

function isDecimal(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text);
}
