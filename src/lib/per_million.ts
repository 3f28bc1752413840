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
