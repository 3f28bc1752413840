import { legalWord, withHash } from "../../../legal_word.ts";

const LEGAL_CALL_ID = /^[\x21-\x7e]{1,40}$/;
const LONGEST_CALL_ID = 40;

/**
 * A tool's name as this form allows it: letters, digits, `_` and `-`, at most 64.
 * Source: Chat Completions reference, "Tools".
 */
export function wireToolName(name: string): string {
  return legalWord(name, 64);
}

/** A call's id as this form allows it: at most 40 characters; others are cut and end with a short hash of themselves. */
export function wireCallId(id: string): string {
  return LEGAL_CALL_ID.test(id) ? id : withHash(id.replace(/[^a-zA-Z0-9_-]/g, "_"), id, LONGEST_CALL_ID);
}
