import { priceOfOne } from "../../../platform/names/per_million.ts";
import { AnswerError } from "./questions.ts";

/** The price of one vendor's models in decimal USD for each token; null for models that cost nothing. */
export type ModelPrice = { readonly prompt: string; readonly completion: string } | null;

const PRICE = /^(\d{1,6}(?:\.\d{1,4})?)\/(\d{1,6}(?:\.\d{1,4})?)$/;

/**
 * Reads a price: `INPUT/OUTPUT` in USD for a million tokens, or `free`.
 *
 * @throws {AnswerError} For another text.
 */
export function readPrice(text: string): ModelPrice {
  if (text === "free") return null;
  const [, input, output] = PRICE.exec(text) ?? [];
  if (input !== undefined && output !== undefined) return { prompt: priceOfOne(input), completion: priceOfOne(output) };
  throw new AnswerError("expected INPUT/OUTPUT in USD for a million tokens, such as 0.15/0.60, or free");
}
