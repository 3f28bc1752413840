import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { objectsOf, textOf } from "../../../neutral/wire_value.ts";

/** Separates several summaries or texts of one reasoning item when they are joined. */
export const REASONING_SEPARATOR = "\n\n";

/**
 * The text of a reasoning item: the reasoning itself if the vendor returns it (`reasoning_text`), otherwise the
 * summary.
 * Source: Responses API reference, "Reasoning"; `content` is null in the history of some clients.
 */
export function reasoningTextOf(item: JsonObject): string {
  const text = objectsOf(item.content).map((part) => textOf(part.text)).join(REASONING_SEPARATOR);
  return text || objectsOf(item.summary).map((part) => textOf(part.text)).join(REASONING_SEPARATOR);
}
