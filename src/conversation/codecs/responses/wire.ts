import type { JsonObject } from "../../codec.ts";

/** True for a JSON object: not null, not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text itself, or nothing where the wire has something else. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The text, or null where the wire has none. */
export function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** The number, or null where the wire has none that counts. */
export function numberOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** The objects of a list; empty where the wire has no list. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** True where a field was left out: clients send null for it as often as nothing. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

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
