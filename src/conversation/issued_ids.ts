import type { JsonObject } from "../lib/json_object.ts";
import { isObject, listOf, textOrNull } from "./wire_value.ts";

/** An id by which a vendor names state that it keeps, in a reply. */
export interface IssuedId {
  /** What it names. */
  readonly kind: "response" | "conversation" | "thread" | "item" | "container" | "file" | "audio";
  /** As the vendor wrote it. */
  readonly id: string;
}

/** What a request says about the state of its reply. */
export interface StatePolicy {
  /** Whether the vendor keeps the reply. */
  readonly isStored: boolean;
  /** Whether reasoning comes with its encrypted content, so that nobody looks it up by id. */
  readonly hasReasoning: boolean;
  /** Whether the vendor keeps the conversation under the reply's id. */
  readonly isThread: boolean;
}

/**
 * What a request of a format says about the state of its reply. Source: Responses API reference, "store", "include";
 * Messages API reference, "thread".
 */
export function statePolicyOf(body: JsonObject): StatePolicy {
  return {
    isStored: body.store !== false,
    hasReasoning: listOf(body.include).includes("reasoning.encrypted_content"),
    isThread: isObject(body.thread),
  };
}

/** The id as one of that kind; none when it is no text. */
export function idOfKind(kind: IssuedId["kind"], id: unknown): IssuedId[] {
  const text = textOrNull(id);
  return text === null ? [] : [{ kind, id: text }];
}
