/**
 * Money is counted in whole units of 10^-10 USD, never in floats. Prices are finer than that (a cached token of a cheap
 * model costs 36.25 units), so a rate is kept in units of 10^-18 USD; products are summed exactly and rounded half up
 * once, at the end. Source: docs/api/money.md#amounts.
 */
export type Money = bigint;

/** The price of one unit (a token, an image, a second) in 10^-18 USD. */
export type Rate = bigint;

const MONEY_DIGITS = 10;
const RATE_DIGITS = 18;
/** The number of {@linkcode Rate} units in one {@linkcode Money} unit. */
export const RATE_UNITS_PER_MONEY_UNIT = 10n ** BigInt(RATE_DIGITS - MONEY_DIGITS);
const THOUSANDTHS_PER_MONEY_UNIT = 1_000n * RATE_UNITS_PER_MONEY_UNIT;
const HALF_MONEY_UNIT = THOUSANDTHS_PER_MONEY_UNIT / 2n;
const MAX_FRACTIONAL_QUANTITY = 1e12;

/** The largest amount accepted as input: ten million USD. */
export const MAX_MONEY: Money = 10_000_000n * 10n ** BigInt(MONEY_DIGITS);

/**
 * Parses a decimal amount in USD, such as `25`, `25.00` or `-0.5`.
 *
 * @throws {RangeError} If the text is not a plain decimal, has more than ten fractional digits or exceeds
 * {@linkcode MAX_MONEY}.
 */
export function readMoney(text: string): Money {
  const money = readDecimal(text, MONEY_DIGITS);
  if (money > MAX_MONEY || money < -MAX_MONEY) {
    throw new RangeError(`Cannot read an amount beyond 10000000 USD: got "${text.slice(0, 40)}"`);
  }
  return money;
}

/** Formats an amount as decimal USD with exactly ten fractional digits: `0.1000000000`. */
export function writeMoney(money: Money): string {
  const sign = money < 0n ? "-" : "";
  const digits = (money < 0n ? -money : money).toString().padStart(MONEY_DIGITS + 1, "0");
  return `${sign}${digits.slice(0, -MONEY_DIGITS)}.${digits.slice(-MONEY_DIGITS)}`;
}

/**
 * Parses a unit price in USD, such as `0.0000025`.
 *
 * @throws {RangeError} If the text is not a plain decimal, is negative or has more than eighteen fractional digits.
 */
export function readRate(text: string): Rate {
  const rate = readDecimal(text, RATE_DIGITS);
  if (rate < 0n) throw new RangeError(`Cannot read a price below zero: got "${text.slice(0, 40)}"`);
  return rate;
}

/** Formats a rate as decimal USD without zeros at the end: `0.0000025`. */
export function writeRate(rate: Rate): string {
  const digits = rate.toString().padStart(RATE_DIGITS + 1, "0");
  const fraction = digits.slice(-RATE_DIGITS).replace(/0+$/, "");
  return fraction === "" ? digits.slice(0, -RATE_DIGITS) : `${digits.slice(0, -RATE_DIGITS)}.${fraction}`;
}

/** The maximum number of fractional digits of a factor. */
const FACTOR_DIGITS = 6;

/**
 * A rate times a factor, rounded up.
 *
 * @param factor A decimal such as `1.1`, with at most six fractional digits.
 * @throws {RangeError} If the factor is no such decimal, or is not above zero.
 */
export function multiplyRate(rate: Rate, factor: string): Rate {
  const scaled = readDecimal(factor, FACTOR_DIGITS);
  if (scaled <= 0n) throw new RangeError(`Cannot multiply by a factor that is not above zero: got "${factor}"`);
  const unit = 10n ** BigInt(FACTOR_DIGITS);
  return (rate * scaled + unit - 1n) / unit;
}

/** The higher of two rates. */
export function higherRate(one: Rate, other: Rate): Rate {
  return one > other ? one : other;
}

/**
 * The exact cost of one line of a bill in thousandths of a {@linkcode Rate} unit. Such costs can be added before
 * rounding.
 *
 * @param quantity The number of units; not negative, with at most three fractional digits.
 * @param rate The price of one unit.
 */
export function exactCostOf(quantity: number, rate: Rate): bigint {
  if (quantity === 0 || rate === 0n) return 0n;
  // A larger number is an integer, whose product would not be exact.
  if (quantity > MAX_FRACTIONAL_QUANTITY) return 1_000n * BigInt(Math.round(quantity)) * rate;
  return BigInt(Math.round(quantity * 1_000)) * rate;
}

/** Rounds a sum of {@linkcode exactCostOf} half up. */
export function roundedMoney(exactSum: bigint): Money {
  return (exactSum + HALF_MONEY_UNIT) / THOUSANDTHS_PER_MONEY_UNIT;
}

function readDecimal(text: string, digits: number): bigint {
  const match = /^(-?)(\d{1,20})(?:\.(\d+))?$/.exec(text);
  if (!match) throw new RangeError(`Cannot read a decimal number: got "${text.slice(0, 40)}"`);
  const [, sign, whole, fraction = ""] = match;
  if (fraction.length > digits) {
    throw new RangeError(`Cannot read more than ${digits} fractional digits: got "${text.slice(0, 40)}"`);
  }
  const units = BigInt(whole + fraction.padEnd(digits, "0"));
  return sign === "-" ? -units : units;
}
