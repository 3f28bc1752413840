import { isObject, objectsOf } from "../../../neutral/wire_value.ts";

const NONE: readonly string[] = [];
const REASONING: readonly string[] = ["reasoning_signature"];

/**
 * Reads the reasoning of earlier turns that the vendor withheld from the model, because the conversation before it, the
 * model or the account has changed. Source: Responses API reference, `input_transformations`.
 *
 * @param body A reply, or an event that has one.
 */
export function readDroppedFields(body: unknown): readonly string[] {
  if (!isObject(body)) return NONE;
  const { input_transformations } = isObject(body.response) ? body.response : body;
  const changes = objectsOf(input_transformations);
  return changes.some(({ type, action }) => type === "reasoning" && action === "removed") ? REASONING : NONE;
}
