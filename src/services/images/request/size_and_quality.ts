import type { ImageSection } from "../../../vendors/catalog/sections/media_schemas.ts";
import { IMAGE_QUALITIES, IMAGE_SIZES } from "../../../vendors/catalog/sections/media_sections.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import { oneOf } from "./fields.ts";

/** The qualities of an edit. Source: docs/api/images.md#edits. */
export const EDIT_QUALITIES = ["low", "medium", "high", "xhigh", "max"] as const;

/**
 * The size to send to the vendor: mapped by the model, else the caller's own.
 *
 * @param asked As the caller wrote it; null if missing.
 * @throws {GatewayError} `invalid_request` for a size that does not exist or that this model does not support.
 */
export function sizeFor(asked: unknown, { sizes, sizeMap }: ImageSection): string | null {
  if (asked === undefined || asked === null) return null;
  return mapped("size", oneOf("size", asked, IMAGE_SIZES), sizes, sizeMap);
}

/**
 * The quality to send to the vendor. Callers must send one. Source: docs/api/images.md#generations.
 *
 * @param words The values that the endpoint accepts.
 * @throws {GatewayError} `invalid_request` if it is missing, invalid, or not supported by this model.
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
