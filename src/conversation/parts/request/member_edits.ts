import type { JsonObject } from "../../../platform/lib/json/json_object.ts";

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
