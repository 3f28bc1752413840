import type { PriceKey } from "../../money/billing/prices/tariff.ts";
import { TEXTS } from "./texts.ts";

const MILLION = 1_000_000;
/** Rates have at most this many digits, and floating point adds none below it. */
const EXACT_DIGITS = 12;

/** The keys of prices that are not for a token. All others are. */
type UnitKey = keyof typeof TEXTS.prices.units & PriceKey;

/** A price in USD with its unit: that of tokens and characters for a million. Other text is returned as it is. */
export function priceText(key: string, rate: unknown): string {
  const value = Number(rate);
  if (typeof rate !== "string" || rate.trim() === "" || !Number.isFinite(value)) return String(rate);
  if (key === "character") return TEXTS.prices.perMillionCharacters(exactDollars(value * MILLION));
  if (key === "cache_storage_hour") return TEXTS.prices.perMillionTokenHours(exactDollars(value * MILLION));
  if (key.startsWith("per_second_")) return TEXTS.prices.units.video_second(exactDollars(value));
  if (isUnitKey(key)) return TEXTS.prices.units[key](exactDollars(value));
  return TEXTS.prices.perMillionTokens(exactDollars(value * MILLION));
}

/** The price of a million tokens in USD, from that of one; empty without a price. */
export function perMillionTokens(price: string | undefined): string {
  return price === undefined ? "" : exactDollars(Number(price) * MILLION);
}

/** An amount with all its digits, because a price that is rounded is another price. */
export function exactDollars(value: number): string {
  const exact = Number(value.toPrecision(EXACT_DIGITS));
  return `$${exact.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: EXACT_DIGITS })}`;
}

function isUnitKey(key: string): key is UnitKey {
  return Object.hasOwn(TEXTS.prices.units, key);
}
