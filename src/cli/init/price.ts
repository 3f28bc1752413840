import { UsageError } from "../usage_error.ts";

/** The price of one vendor's models in decimal USD for each token; null for models that cost nothing. */
export type ModelPrice = { readonly prompt: string; readonly completion: string } | null;

const PRICE = /^(\d{1,6}(?:\.\d{1,4})?)\/(\d{1,6}(?:\.\d{1,4})?)$/;
const MILLIONTHS = 6;

/**
 * Reads a price: `INPUT/OUTPUT` in USD for a million tokens, or `free`.
 *
 * @throws {UsageError} For another text.
 */
export function readPrice(vendor: string, text: string): ModelPrice {
  if (text === "free") return null;
  const [, input, output] = PRICE.exec(text) ?? [];
  if (input !== undefined && output !== undefined) return { prompt: perToken(input), completion: perToken(output) };
  throw new UsageError(
    `switchyard init: --price: expected ${vendor}=INPUT/OUTPUT in USD for a million tokens, such as ` +
      `${vendor}=0.15/0.60, or ${vendor}=free`,
  );
}

/** Moves the decimal point, so that no digit is lost. */
function perToken(perMillion: string): string {
  const [whole = "", fraction = ""] = perMillion.split(".");
  const digits = whole.padStart(MILLIONTHS + 1, "0") + fraction;
  const point = digits.length - fraction.length - MILLIONTHS;
  return `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/0+$/, "").replace(/\.$/, "");
}
