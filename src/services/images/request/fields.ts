import { IMAGE_EXTRAS, type ImageExtra, type ImageExtras } from "../../../vendors/upstreams/contract/image_options.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { hasExtra } from "./file_types.ts";

/** The background options. Source: docs/api/images.md#generations. */
export const BACKGROUNDS = ["transparent", "opaque", "auto"] as const;

/** The maximum number of pictures per request. Source: docs/api/limits.md#images. */
export const MAX_IMAGES = 10;

/** The maximum number of partial pictures. Source: OpenAI API reference, "Create image", `partial_images`. */
export const MAX_PARTIAL_IMAGES = 3;

const MAX_SHOWN_CHARACTERS = 40;

/** One of several values. Throws `invalid_request` that lists them. */
export function oneOf(field: string, value: unknown, words: readonly string[]): string {
  if (typeof value === "string" && words.includes(value)) return value;
  throw invalidField(field, `expected one of ${words.join(", ")}${got(value)}`);
}

/** Like {@linkcode oneOf}; null for a missing field. */
export function oneOfOrNull(field: string, value: unknown, words: readonly string[]): string | null {
  return value === undefined || value === null ? null : oneOf(field, value, words);
}

/** A whole number, or the default for a missing field. Throws `invalid_request` that names the range. */
export function integerOr(field: string, value: unknown, least: number, most: number, fallback: number): number {
  if (value === undefined || value === null) return fallback;
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw invalidField(field, `expected a whole number from ${least} to ${most}${got(value)}`);
}

/** A boolean; false for a missing field. */
export function booleanOf(field: string, value: unknown): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === "boolean") return value;
  throw invalidField(field, `expected true or false${got(value)}`);
}

/** The members that are sent as they are, and the names of those that the file type does not have. */
export interface ReadExtras {
  readonly extras: ImageExtras;
  readonly dropped: readonly ImageExtra[];
}

/**
 * The members of OpenAI's Images API that are sent as they are, where the vendor has them.
 *
 * @param valueOf The value of a field; undefined or null for a missing one.
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function extrasOf(valueOf: (name: ImageExtra) => unknown, outputFormat: string | null): ReadExtras {
  const extras: Partial<Record<ImageExtra, string | number>> = {};
  const dropped: ImageExtra[] = [];
  for (const name of IMAGE_EXTRAS) {
    const value = valueOf(name);
    if (value === undefined || value === null) continue;
    if (hasExtra(outputFormat, name)) extras[name] = extraOf(name, value);
    else dropped.push(name);
  }
  return { extras, dropped };
}

function extraOf(name: ImageExtra, value: unknown): string | number {
  if (name === "output_compression") return integerOr(name, value, 0, MAX_COMPRESSION, 0);
  if (name === "frame_count") return integerOr(name, value, MIN_FRAMES, MAX_FRAMES, 0);
  if (name === "frame_duration_ms") return integerOr(name, value, 1, MAX_FRAME_DURATION_MS, 0);
  if (name === "moderation") return oneOf(name, value, MODERATIONS);
  if (typeof value === "string") return value;
  throw invalidField(name, "expected text");
}

/** Source: OpenAI API reference, "Create image". */
const MAX_COMPRESSION = 100;
const MIN_FRAMES = 2;
const MAX_FRAMES = 16;
/** The longest delay that the file type has. */
const MAX_FRAME_DURATION_MS = 655_350;
const MODERATIONS = ["auto", "low"];

/** A prompt: text that is not blank. Errors never contain the text. */
export function promptOf(value: unknown): string {
  if (typeof value === "string" && value.trim() !== "") return value;
  throw invalidField("prompt", typeof value === "string" ? "expected text, got none" : "expected text");
}

/** A short text or a number as an error may repeat it; for anything else its type. */
function got(value: unknown): string {
  if (value === undefined || value === null) return ", got nothing";
  if (typeof value === "number" || typeof value === "boolean") return `, got ${value}`;
  if (typeof value !== "string") return `, got ${Array.isArray(value) ? "a list" : "an object"}`;
  return value.length <= MAX_SHOWN_CHARACTERS && /^[\w.+-]*$/.test(value) ? `, got "${value}"` : ", got other text";
}
