import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { isObject } from "../../../neutral/wire_value.ts";
import type { FieldNames } from "../shared/fields.ts";

/** Maximum number of cache marks in a request. */
export const MAX_MARKS = 4;

/**
 * Removes cache marks from a request until it meets the vendor's rules: at most four, of which the last are kept, and
 * no mark of one hour after one of five minutes. Source: Messages API reference, "Prompt caching".
 */
export function limitCacheMarks(body: JsonObject, droppedFields: FieldNames): void {
  const marked: JsonObject[] = [];
  for (const blocks of [body.tools, body.system]) addMarked(blocks, marked);
  if (Array.isArray(body.messages)) {
    for (const message of body.messages) addMarked(message.content, marked);
  }
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

/** Adds the blocks with a mark, in the vendor's order of a prompt: those inside of a block come before it. */
function addMarked(blocks: unknown, marked: JsonObject[]): void {
  if (!Array.isArray(blocks)) return;
  for (const block of blocks) {
    if (!isObject(block)) continue;
    addMarked(block.content, marked);
    if (block.cache_control !== undefined) marked.push(block);
  }
}
