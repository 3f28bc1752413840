/** Readers of JSON of which nothing is known. A value of another type reads as empty. */

/** An object of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object. */
export function objectIn(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as JsonObject : {};
}

/** The value as a list of objects. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(objectIn) : [];
}

/** The value as a text. */
export function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The value as a number; zero for any other value. */
export function numberIn(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/** A text as JSON; null if it is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
