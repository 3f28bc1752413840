/** Digits of a cent's smallest part that is kept, as many as an amount of money has. */
const FRACTION_DIGITS = 10;

/**
 * A cost as vendors report it, a number of USD, as a decimal. Null when nothing was reported, and for zero: vendors
 * report that also of work that another account paid.
 */
export function reportedUsd(amount: number | null | undefined): string | null {
  return amount && amount > 0 && Number.isFinite(amount) ? amount.toFixed(FRACTION_DIGITS) : null;
}
