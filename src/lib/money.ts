/**
 * Money is counted in whole units of 10^-10 USD, never in floats. Prices are finer than that (a cached token of a cheap
 * model costs 36.25 units), so a rate is kept in units of 10^-18 USD; products are summed exactly and rounded half up
 * once, at the end. Source: docs/api/money.md#amounts.
 */
export type Money = bigint;

/** A price of one thing (a token, an image, a second) in units of 10^-18 USD. */
export type Rate = bigint;

/** One line of a bill. */
export interface BillLine {
  /** How many; not negative, counted in thousandths. */
  readonly quantity: number;
  /** The price of one. */
  readonly rate: Rate;
}

const MONEY_DIGITS = 10;
const RATE_DIGITS = 18;
/** How many units of {@linkcode Rate} one unit of {@linkcode Money} is. */
export const RATE_UNITS_PER_MONEY_UNIT = 10n ** BigInt(RATE_DIGITS - MONEY_DIGITS);
const THOUSANDTHS_PER_MONEY_UNIT = 1_000n * RATE_UNITS_PER_MONEY_UNIT;

/** The largest amount that is accepted from outside: ten million USD. */
export const MAX_MONEY: Money = 10_000_000n * 10n ** BigInt(MONEY_DIGITS);

/**
 * Reads a decimal amount of USD, such as `25`, `25.00` or `-0.5`.
 *
 * @throws {RangeError} If it is no plain decimal, has more than ten fractional digits or exceeds {@linkcode
 * MAX_MONEY}.
 */
export function readMoney(text: string): Money {
  const money = readDecimal(text, MONEY_DIGITS);
  if (money > MAX_MONEY || money < -MAX_MONEY) {
    throw new RangeError(`Cannot read an amount beyond 10000000 USD: got "${text.slice(0, 40)}"`);
  }
  return money;
}

/** Writes an amount as a decimal of USD with exactly ten fractional digits: `0.1000000000`. */
export function writeMoney(money: Money): string {
  const sign = money < 0n ? "-" : "";
  const digits = (money < 0n ? -money : money).toString().padStart(MONEY_DIGITS + 1, "0");
  return `${sign}${digits.slice(0, -MONEY_DIGITS)}.${digits.slice(-MONEY_DIGITS)}`;
}

/**
 * Reads a price of USD for one thing, such as `0.0000025`.
 *
 * @throws {RangeError} If it is no plain decimal, is negative or has more than eighteen fractional digits.
 */
export function readRate(text: string): Rate {
  const rate = readDecimal(text, RATE_DIGITS);
  if (rate < 0n) throw new RangeError(`Cannot read a price below zero: got "${text.slice(0, 40)}"`);
  return rate;
}

/** The highest of some prices; at least one. */
export function highestRate(rates: readonly Rate[]): Rate {
  return rates.reduce((highest, rate) => rate > highest ? rate : highest);
}

/** The sum of a bill, rounded half up once. */
export function sumOf(lines: readonly BillLine[]): Money {
  let total = 0n;
  for (const { quantity, rate } of lines) {
    if (quantity === 0 || rate === 0n) continue;
    total += Number.isInteger(quantity)
      ? 1_000n * BigInt(quantity) * rate
      : BigInt(Math.round(quantity * 1_000)) * rate;
  }
  return (total + THOUSANDTHS_PER_MONEY_UNIT / 2n) / THOUSANDTHS_PER_MONEY_UNIT;
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
