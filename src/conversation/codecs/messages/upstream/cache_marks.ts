import type { JsonObject } from "../../../../lib/json_object.ts";
import { isObject } from "../../../wire_value.ts";
import type { FieldNames } from "../shared/fields.ts";

/** Maximum number of cache marks in a request. */
const MAX_MARKS = 4;

/**
 * Removes cache marks from a request until it meets the vendor's rules: at most four, of which the last are kept, and
 * no mark of one hour after one of five minutes. Source: Messages API reference, "Prompt caching".
 */
export function limitCacheMarks(body: JsonObject, droppedFields: FieldNames): void {
  const marked = [...blocksIn(body)].filter((block) => block.cache_control !== undefined);
  for (const block of marked.slice(0, Math.max(0, marked.length - MAX_MARKS))) {
    delete block.cache_control;
    droppedFields.add("cache_control");
  }
  let isShort = false;
  for (const { cache_control: mark } of marked.slice(-MAX_MARKS)) {
    if (!isObject(mark)) continue;
    if (isShort && mark.ttl === "1h") mark.ttl = "5m";
    if (mark.ttl !== "1h") isShort = true;
  }
}

/** All blocks that can have a mark, in the vendor's order of a prompt. */
function* blocksIn({ tools, system, messages }: JsonObject): Generator<JsonObject> {
  yield* objectsIn(tools);
  yield* objectsIn(system);
  for (const message of objectsIn(messages)) {
    for (const block of objectsIn(message.content)) {
      yield* objectsIn(block.content);
      yield block;
    }
  }
}

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
