import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { truncateName } from "./sanitized_name.ts";

/** How the top level of a request changes that passes through. */
export interface MemberEdits {
  /** Members to set. */
  readonly set: JsonObject;
  /** Members to remove. */
  readonly remove: readonly string[];
  /** The neutral names of the fields that are dropped. */
  readonly droppedFields: readonly string[];
}

/** The {@linkcode MemberEdits} of one request while they are found. */
export interface MemberChanges extends MemberEdits {
  readonly set: Record<string, unknown>;
  readonly remove: string[];
  readonly droppedFields: string[];
}

/** A request that passes through as it is. */
export const NO_MEMBER_EDITS: MemberEdits = { set: {}, remove: [], droppedFields: [] };

/** Hints of OpenAI's formats that only tell requests apart: equal values stay equal. */
const HINTS = ["prompt_cache_key", "safety_identifier"] as const;
/**
 * The most characters of such a hint. Source: openai 3.57.0 (Python), `safety_identifier`; the vendor's error message
 * "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64".
 */
export const MAX_HINT_CHARACTERS = 64;

/** Shortens hints that are too long for vendors of OpenAI's formats, as in a request that is rewritten. */
export function hintEditsOf(body: JsonObject): MemberEdits {
  const set: Record<string, unknown> = {};
  for (const name of HINTS) {
    const value = body[name];
    if (typeof value === "string" && value.length > MAX_HINT_CHARACTERS) {
      set[name] = truncateName(value, MAX_HINT_CHARACTERS);
    }
  }
  return Object.keys(set).length === 0 ? NO_MEMBER_EDITS : { set, remove: [], droppedFields: [] };
}
