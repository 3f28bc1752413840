import { invalidField } from "../lib/gateway_error.ts";

/** Types that finished pictures can have. Source: docs/api/images.md#generations. */
export const OUTPUT_FORMATS = ["png", "jpeg", "webp"] as const;

/** What can lie behind a picture. Source: docs/api/images.md#generations. */
export const BACKGROUNDS = ["transparent", "opaque", "auto"] as const;

/** The most pictures of one request. Source: docs/api/limits.md#images. */
export const MAX_IMAGES = 10;

/** The most unfinished pictures on the way. Source: OpenAI API reference, "Create image", `partial_images`. */
export const MAX_PARTIAL_IMAGES = 3;

const MAX_SHOWN_CHARACTERS = 40;

/** One of several words. Throws `invalid_request` that lists them. */
export function oneOf(field: string, value: unknown, words: readonly string[]): string {
  if (typeof value === "string" && words.includes(value)) return value;
  throw invalidField(field, `expected one of ${words.join(", ")}${got(value)}`);
}

/** As {@linkcode oneOf}, or null for a field that was left out. */
export function oneOfOrNull(field: string, value: unknown, words: readonly string[]): string | null {
  return value === undefined || value === null ? null : oneOf(field, value, words);
}

/** A whole number, or the fallback for a field that was left out. Throws `invalid_request` that tells the range. */
export function wholeOr(field: string, value: unknown, least: number, most: number, fallback: number): number {
  if (value === undefined || value === null) return fallback;
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw invalidField(field, `expected a whole number from ${least} to ${most}${got(value)}`);
}

/** True or false; false for a field that was left out. */
export function booleanOf(field: string, value: unknown): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === "boolean") return value;
  throw invalidField(field, `expected true or false${got(value)}`);
}

/** A prompt: text that says something. The text itself never stands in an error. */
export function promptOf(value: unknown): string {
  if (typeof value === "string" && value.trim() !== "") return value;
  throw invalidField("prompt", typeof value === "string" ? "expected text, got none" : "expected text");
}

/** A short word or a number as an error may repeat it; of all else, only what it is. */
function got(value: unknown): string {
  if (value === undefined || value === null) return ", got nothing";
  if (typeof value === "number" || typeof value === "boolean") return `, got ${value}`;
  if (typeof value !== "string") return `, got ${Array.isArray(value) ? "a list" : "an object"}`;
  return value.length <= MAX_SHOWN_CHARACTERS && /^[\w.+-]*$/.test(value) ? `, got "${value}"` : ", got other text";
}
