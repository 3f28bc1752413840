import type { JsonObject } from "../../../../lib/json_object.ts";
import { objectsOf, textOf } from "../../../wire_value.ts";

/** The text of several summaries or thoughts of one reasoning item is one text, parted by an empty line. */
export const THOUGHT_SEPARATOR = "\n\n";

/**
 * The text of a reasoning item: its own words where the vendor shows them (`reasoning_text`), else the summary.
 * Source: Responses API reference, "Reasoning"; `content` is null in the history of some clients.
 */
export function thoughtsOf(item: JsonObject): string {
  const words = objectsOf(item.content).map((part) => textOf(part.text)).join(THOUGHT_SEPARATOR);
  return words || objectsOf(item.summary).map((part) => textOf(part.text)).join(THOUGHT_SEPARATOR);
}
