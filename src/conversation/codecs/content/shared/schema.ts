import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { JsonSchema } from "../../../neutral/conversation.ts";
import { mapValues } from "../../../schemas/schema_walk.ts";
import { isObject } from "../../../neutral/wire_value.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";

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
export function jsonSchemaOf(schema: JsonObject): JsonSchema {
  return converted(schema, { depth: 0, isForGoogle: false });
}

/** The same with the order of properties, a keyword that only Google reads. */
export function googleJsonSchemaOf(schema: JsonObject): JsonSchema {
  return converted(schema, { depth: 0, isForGoogle: true });
}

/** Where a schema is, and who reads the result. */
interface Place {
  readonly depth: number;
  readonly isForGoogle: boolean;
}

function converted(schema: JsonObject, { depth, isForGoogle }: Place): JsonSchema {
  if (depth > MAX_DEPTH) return {};
  const deeper = { depth: depth + 1, isForGoogle };
  const entries: [string, unknown][] = [];
  for (const [key, value] of Object.entries(schema)) {
    const keyword = ownValue(SNAKE_CASE, key) ?? key;
    const read = readKeyword(keyword, value, deeper);
    if (read !== undefined) entries.push([keyword, read]);
  }
  const read: JsonObject = Object.fromEntries(entries);
  return schema.nullable === true ? nullableOf(read) : read;
}

function readKeyword(keyword: string, value: unknown, place: Place): unknown {
  if (value === null) return undefined;
  const inner = (each: unknown) => isObject(each) ? converted(each, place) : each;
  switch (keyword) {
    case "type":
      return typeof value === "string" ? typeIn(value) : value;
    case "nullable":
    case "example":
      return undefined;
    case "propertyOrdering":
      return place.isForGoogle ? value : undefined;
    case "format":
      return value === "enum" ? undefined : value;
    case "properties":
    case "patternProperties":
    case "$defs":
    case "defs":
    case "definitions":
      return isObject(value) ? mapValues(value, inner) : value;
    case "items":
    case "additionalProperties":
    case "anyOf":
    case "oneOf":
    case "allOf":
    case "prefixItems":
      return Array.isArray(value) ? value.map(inner) : inner(value);
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
