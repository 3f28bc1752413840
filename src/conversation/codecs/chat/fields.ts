import type { JsonObject } from "../../codec.ts";

/** The value if it is a JSON object, else null: arrays are none. */
export function objectOf(value: unknown): JsonObject | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as JsonObject : null;
}

/** The value if it is a list, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is text, else empty text. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The value if it is a finite number, else null. */
export function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** True when a field holds a wish: not absent, switched off or empty. */
export function saysSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "") return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}
