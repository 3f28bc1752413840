import { type Money, RATE_UNITS_PER_MONEY_UNIT } from "../../platform/lib/basics/money.ts";

/** US dollars in units of 10^-18, as a vendor reports them. Credits are negative. Sums are exact. */
export type ExactUsd = bigint;

const DIGITS = 18;
const MAX_EXPONENT = 18;
const NUMBER = /^([+-]?)(\d{1,15})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/;

/**
 * Reads an amount that a vendor reports, as a number or as text. Digits beyond 10^-18 USD are cut.
 *
 * @param shift By how many digits the unit is smaller than a dollar: 2 for cents. Default: 0.
 * @returns Null for anything that is not a finite decimal number.
 */
export function readExactUsd(value: unknown, shift = 0): ExactUsd | null {
  if (typeof value !== "string" && typeof value !== "number") return null;
  const match = NUMBER.exec(String(value).trim());
  if (match === null) return null;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  if (Math.abs(Number(exponent)) > MAX_EXPONENT) return null;
  const places = DIGITS + Number(exponent) - shift - fraction.length;
  const digits = BigInt(whole + fraction);
  const units = places >= 0 ? digits * 10n ** BigInt(places) : digits / 10n ** BigInt(-places);
  return sign === "-" ? -units : units;
}

/** An amount rounded half away from zero. */
export function moneyOf(amount: ExactUsd): Money {
  const half = RATE_UNITS_PER_MONEY_UNIT / 2n;
  return amount < 0n ? -((-amount + half) / RATE_UNITS_PER_MONEY_UNIT) : (amount + half) / RATE_UNITS_PER_MONEY_UNIT;
}
