import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { RequestedLimit } from "./caller_format.ts";
import { isObject } from "../neutral/wire_value.ts";

/**
 * The largest limit of output tokens among the given fields; null when none holds a number.
 *
 * @param fields Paths in the caller's spelling: `generationConfig.maxOutputTokens`.
 */
export function maxRequestedLimit(body: JsonObject, fields: readonly string[]): RequestedLimit | null {
  let largest: RequestedLimit | null = null;
  for (const field of fields) {
    const tokens = valueAt(body, field);
    if (typeof tokens === "number" && (largest === null || tokens > largest.tokens)) largest = { field, tokens };
  }
  return largest;
}

function valueAt(body: JsonObject, field: string): unknown {
  if (!field.includes(".")) return body[field];
  return field.split(".").reduce<unknown>((inner, key) => isObject(inner) ? inner[key] : undefined, body);
}
