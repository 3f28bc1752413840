import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { isObject, listOf, textOrNull } from "../neutral/wire_value.ts";

/** An id in a vendor's reply that names state stored by the vendor. */
export interface IssuedId {
  /** What it names. */
  readonly kind: "response" | "conversation" | "thread" | "item" | "container" | "file" | "audio";
  /** As the vendor sent it. */
  readonly id: string;
}

/** Which state of a reply the vendor stores, according to its request. */
export interface StatePolicy {
  /** Whether the vendor stores the reply. */
  readonly isStored: boolean;
  /** Whether reasoning is returned with its encrypted content, so that it is not looked up by id. */
  readonly hasReasoning: boolean;
  /** Whether the vendor stores the conversation under the reply's id. */
  readonly isThread: boolean;
}

/**
 * Reads the {@linkcode StatePolicy} of a request.
 * Source: Responses API reference, "store", "include"; Messages API reference, "thread".
 */
export function statePolicyOf(body: JsonObject): StatePolicy {
  return {
    isStored: body.store !== false,
    hasReasoning: listOf(body.include).includes("reasoning.encrypted_content"),
    isThread: isObject(body.thread),
  };
}

/** The id as a list of one {@linkcode IssuedId}; empty when it is not text. */
export function idOfKind(kind: IssuedId["kind"], id: unknown): IssuedId[] {
  const text = textOrNull(id);
  return text === null ? [] : [{ kind, id: text }];
}
