import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";

/** Limits of metadata. Source: OpenAI API reference, "Metadata". */
export const METADATA_LIMITS = { pairs: 16, keyCharacters: 64, valueCharacters: 512 };

/**
 * Parses the metadata of a create request.
 *
 * @param value The field as sent; undefined and null count as not sent.
 * @returns Null if there is none.
 * @throws {GatewayError} `invalid_request`, naming `metadata` or the pair.
 */
export function readMetadata(value: unknown): Readonly<Record<string, string>> | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "object" || Array.isArray(value)) throw invalidField("metadata", "expected an object");
  const pairs = Object.entries(value);
  if (pairs.length > METADATA_LIMITS.pairs) {
    throw invalidField("metadata", `expected at most ${METADATA_LIMITS.pairs} pairs, got ${pairs.length}`);
  }
  for (const [key, each] of pairs) {
    refuseMetadataKey(key, "metadata");
    if (typeof each !== "string" || each.length > METADATA_LIMITS.valueCharacters) {
      throw invalidField(`metadata.${key}`, `expected text of at most ${METADATA_LIMITS.valueCharacters} characters`);
    }
  }
  return pairs.length === 0 ? null : Object.fromEntries(pairs) as Record<string, string>;
}

/** Throws `invalid_request` for an invalid metadata key. */
export function refuseMetadataKey(key: string, field: string): void {
  if (key !== "" && key.length <= METADATA_LIMITS.keyCharacters) return;
  throw invalidField(field, `expected keys of 1 to ${METADATA_LIMITS.keyCharacters} characters`);
}
