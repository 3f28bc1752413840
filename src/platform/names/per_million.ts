/** The end of the names of prices of a million tokens or characters: `prompt_per_million`. */
export const PER_MILLION = "_per_million";

const MILLIONTHS = 6;

/**
 * The price of one from that of a million. The decimal point is moved, so that no digit is lost.
 *
 * @param perMillion A decimal without sign and exponent, such as `2.50`.
 */
export function priceOfOne(perMillion: string): string {
  const [whole = "", fraction = ""] = perMillion.split(".");
  const digits = whole.padStart(MILLIONTHS + 1, "0") + fraction;
  const point = digits.length - fraction.length - MILLIONTHS;
  const [before = "", after = ""] = [digits.slice(0, point), digits.slice(point).replace(/0+$/, "")];
  const integer = before.replace(/^0+(?=\d)/, "");
  return after === "" ? integer : `${integer}.${after}`;
}

/**
 * The price of a million from that of one, with at least two decimals: `2.50`.
 *
 * @param ofOne A decimal without sign and exponent, such as `0.0000025`.
 */
export function priceOfMillion(ofOne: string): string {
  const [whole = "", fraction = ""] = ofOne.split(".");
  const digits = whole + fraction.padEnd(MILLIONTHS, "0");
  const point = whole.length + MILLIONTHS;
  const integer = digits.slice(0, point).replace(/^0+(?=\d)/, "");
  return `${integer}.${digits.slice(point).replace(/0+$/, "").padEnd(2, "0")}`;
}
