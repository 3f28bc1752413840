/** The number of decimal digits of an amount of money. */
const FRACTION_DIGITS = 10;

/**
 * Converts a cost that a vendor reports in USD to a decimal. Null for no cost and for zero, which vendors also report
 * for work that another account paid for.
 */
export function reportedUsd(amount: number | null | undefined): string | null {
  return amount && amount > 0 && Number.isFinite(amount) ? amount.toFixed(FRACTION_DIGITS) : null;
}
