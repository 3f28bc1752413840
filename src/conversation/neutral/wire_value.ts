import type { JsonObject } from "../../platform/lib/json/json_object.ts";

/** True for a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether an object has any member of its own. It makes no list of them, since each request asks for it often. */
export function hasMembers(object: object): boolean {
  for (const name in object) if (Object.hasOwn(object, name)) return true;
  return false;
}

/** The value if it is a JSON object, else null. */
export function objectOf(value: unknown): JsonObject | null {
  return isObject(value) ? value : null;
}

/** The value if it is a list, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects among the items of a list; none when it is no list. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The value if it is text, else empty text. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The value if it is non-empty text, else null. */
export function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** The value if it is a finite number, else null: JSON text can hold numbers that parse to infinity. */
export function numberOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** True for null and undefined: clients send null for a field that they could leave out. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** The value of a JSON text; null when it is not valid JSON. */
export function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
