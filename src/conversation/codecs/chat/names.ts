import { createHash } from "node:crypto";

const LEGAL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const LEGAL_CALL_ID = /^[\x21-\x7e]{1,40}$/;

/**
 * A tool's name as this form allows it: letters, digits, `_` and `-`, at most 64. Any other name is spelled with `_`
 * and a short hash of itself, so that two names never become one. Source: Chat Completions reference, "Tools".
 */
export function wireToolName(name: string): string {
  return LEGAL_NAME.test(name) ? name : `${legalStart(name, 55)}_${shortHash(name)}`;
}

/** A call's id as this form allows it: at most 40 characters; others are cut and end with a short hash of themselves. */
export function wireCallId(id: string): string {
  return LEGAL_CALL_ID.test(id) ? id : `${legalStart(id, 31)}_${shortHash(id)}`;
}

/** Eight hexadecimal digits that follow from the text. */
export function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

function legalStart(text: string, length: number): string {
  return text.slice(0, length).replace(/[^a-zA-Z0-9_-]/g, "_");
}
