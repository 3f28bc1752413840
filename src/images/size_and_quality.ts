import { IMAGE_QUALITIES, IMAGE_SIZES, type ImageSection } from "../catalog/media_sections.ts";
import { invalidField } from "../lib/gateway_error.ts";
import { ownValue } from "../lib/own_value.ts";
import { oneOf } from "./fields.ts";

/** Qualities of an edit. Source: docs/api/images.md#edits. */
export const EDIT_QUALITIES = ["low", "medium", "high"] as const;

/**
 * The size to ask the vendor for: what the model maps the caller's to, else the caller's own.
 *
 * @param asked As the caller wrote it; null when left out.
 * @throws {GatewayError} `invalid_request` for a size that callers cannot ask for, or that this model does not have.
 */
export function sizeFor(asked: unknown, { sizes, sizeMap }: ImageSection): string | null {
  if (asked === undefined || asked === null) return null;
  return mapped("size", oneOf("size", asked, IMAGE_SIZES), sizes, sizeMap);
}

/**
 * The quality to ask the vendor for. Required of every caller. Source: docs/api/images.md#generations.
 *
 * @param words What the endpoint takes.
 * @throws {GatewayError} `invalid_request` when it is missing or not one of the words, or this model does not have it.
 */
export function qualityFor(
  asked: unknown,
  { qualities, qualityMap }: ImageSection,
  words: readonly string[] = IMAGE_QUALITIES,
): string {
  return mapped("quality", oneOf("quality", asked, words), qualities, qualityMap);
}

function mapped(
  field: string,
  asked: string,
  own: readonly string[],
  map: Readonly<Record<string, string>>,
): string {
  const mapped = ownValue(map, asked);
  if (mapped !== undefined) return mapped;
  if (own.includes(asked)) return asked;
  const known = [...new Set([...own, ...Object.keys(map)])];
  throw invalidField(field, `expected one of ${known.join(", ")} for this model`);
}
