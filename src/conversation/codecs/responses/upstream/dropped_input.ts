import { isObject, objectsOf } from "../../../wire_value.ts";

const NONE: readonly string[] = [];
const REASONING: readonly string[] = ["reasoning_signature"];

/**
 * Reads the reasoning of earlier turns that the vendor withheld from the model, because the conversation before it, the
 * model or the account has changed. Source: Responses API reference, `input_transformations`.
 */
export function readDroppedFields(body: unknown): readonly string[] {
  const changes = isObject(body) ? objectsOf(body.input_transformations) : [];
  return changes.some(({ type, action }) => type === "reasoning" && action === "removed") ? REASONING : NONE;
}
