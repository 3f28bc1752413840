import type { JsonObject } from "../../../../lib/json_object.ts";
import type { JsonSchema } from "../../../conversation.ts";
import { mapValues } from "../../../schemas/schema_walk.ts";
import { isObject } from "../../../wire_value.ts";
import { ownValue } from "../../../../lib/own_value.ts";

/** Maximum depth of a schema; deeper parts are removed, because no vendor accepts them. */
const MAX_DEPTH = 64;

/** Keywords of the vendor's own schema type in their second spelling. */
const SNAKE_CASE: Readonly<Record<string, string>> = {
  any_of: "anyOf",
  min_items: "minItems",
  max_items: "maxItems",
  min_length: "minLength",
  max_length: "maxLength",
  min_properties: "minProperties",
  max_properties: "maxProperties",
  property_ordering: "propertyOrdering",
  additional_properties: "additionalProperties",
};

/** Protobuf's JSON mapping writes 64-bit numbers as strings. */
const COUNTS = new Set(["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"]);

/**
 * Converts the vendor's own schema type (a subset of OpenAPI 3.0: types in capitals, `nullable`) to JSON Schema. Names
 * of properties do not change. Source: Gemini API reference, "Schema".
 */
export function jsonSchemaOf(schema: JsonObject, depth = 0): JsonSchema {
  if (depth > MAX_DEPTH) return {};
  const entries: [string, unknown][] = [];
  for (const [key, value] of Object.entries(schema)) {
    const keyword = ownValue(SNAKE_CASE, key) ?? key;
    const read = readKeyword(keyword, value, depth + 1);
    if (read !== undefined) entries.push([keyword, read]);
  }
  const read: JsonObject = Object.fromEntries(entries);
  return schema.nullable === true ? nullableOf(read) : read;
}

function readKeyword(keyword: string, value: unknown, depth: number): unknown {
  if (value === null) return undefined;
  switch (keyword) {
    case "type":
      return typeof value === "string" ? typeIn(value) : value;
    case "nullable":
    case "propertyOrdering":
    case "example":
      return undefined;
    case "format":
      return value === "enum" ? undefined : value;
    case "properties":
    case "$defs":
    case "defs":
      return isObject(value)
        ? mapValues(value, (inner) => isObject(inner) ? jsonSchemaOf(inner, depth) : inner)
        : value;
    case "items":
    case "additionalProperties":
      return isObject(value) ? jsonSchemaOf(value, depth) : value;
    case "anyOf":
      return Array.isArray(value) ? value.map((inner) => isObject(inner) ? jsonSchemaOf(inner, depth) : inner) : value;
    default:
      return COUNTS.has(keyword) && typeof value === "string" ? Number(value) : value;
  }
}

function typeIn(value: string): string | undefined {
  return value === "TYPE_UNSPECIFIED" ? undefined : value.toLowerCase();
}

function nullableOf(schema: JsonObject): JsonSchema {
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: "null" }] };
  if (typeof schema.type !== "string") return schema;
  const withNull = { ...schema, type: [schema.type, "null"] };
  return Array.isArray(schema.enum) ? { ...withNull, enum: [...schema.enum, null] } : withNull;
}
