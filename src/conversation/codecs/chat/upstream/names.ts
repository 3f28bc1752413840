import { legalWord, shortHash, withHash } from "../../../legal_word.ts";
import { NO_QUIRKS, type Quirks } from "../../../quirks.ts";

const LEGAL_CALL_ID = /^[\x21-\x7e]{1,40}$/;
const LONGEST_CALL_ID = 40;

/**
 * A tool's name as this form allows it: letters, digits, `_` and `-`, at most 64.
 * Source: Chat Completions reference, "Tools".
 */
export function wireToolName(name: string): string {
  return legalWord(name, 64);
}

/**
 * A call's id as this form allows it: at most 40 characters; others are cut and end with a short hash of themselves.
 */
export function wireCallId(id: string, quirks: Quirks = NO_QUIRKS): string {
  if (quirks.has("nine_character_call_ids")) return /^[a-zA-Z0-9]{9}$/.test(id) ? id : shortHash(id, 9);
  return LEGAL_CALL_ID.test(id) ? id : withHash(id.replace(/[^a-zA-Z0-9_-]/g, "_"), id, LONGEST_CALL_ID);
}
