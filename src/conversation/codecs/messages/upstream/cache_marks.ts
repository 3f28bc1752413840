import type { JsonObject } from "../../../../lib/json_object.ts";
import { isObject } from "../../../wire_value.ts";
import type { Names } from "../shared/fields.ts";

/** Most marks that a request may hold. */
const MOST_MARKS = 4;

/**
 * Takes marks off a written body until the vendor's rules hold: at most four, the latest kept, and none that lives an
 * hour after one that lives five minutes. Source: Messages API reference, "Prompt caching".
 */
export function limitCacheMarks(body: JsonObject, losses: Names): void {
  const marked = [...blocksIn(body)].filter((block) => block.cache_control !== undefined);
  for (const block of marked.slice(0, Math.max(0, marked.length - MOST_MARKS))) {
    delete block.cache_control;
    losses.add("cache_control");
  }
  let isShort = false;
  for (const { cache_control: mark } of marked.slice(-MOST_MARKS)) {
    if (!isObject(mark)) continue;
    if (isShort && mark.ttl === "1h") mark.ttl = "5m";
    if (mark.ttl !== "1h") isShort = true;
  }
}

/** Everything that can carry a mark, in the order in which the vendor reads a prompt. */
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
