import { NO_QUIRKS, type Quirks } from "../../../contract/quirks.ts";
import { sanitizeName, shortHash, withHash } from "../../../parts/request/sanitized_name.ts";

const CALL_ID = /^[\x21-\x7e]{1,40}$/;
const NINE_CHARACTERS = /^[a-zA-Z0-9]{9}$/;
const MAX_CALL_ID_CHARACTERS = 40;

/** A call's id of at most 40 characters. A longer one is cut and ends with a short hash of the whole id. */
export function wireCallId(id: string, quirks: Quirks = NO_QUIRKS): string {
  if (quirks.has("nine_character_call_ids")) return NINE_CHARACTERS.test(id) ? id : shortHash(id, 9);
  return CALL_ID.test(id) ? id : withHash(id.replace(/[^a-zA-Z0-9_-]/g, "_"), id, MAX_CALL_ID_CHARACTERS);
}

/**
 * A tool's name in the alphabet of this format: letters, digits, `_` and `-`, at most 64 characters.
 * Source: Chat Completions reference, "Tools".
 */
export function wireToolName(name: string): string {
  return sanitizeName(name, 64);
}
