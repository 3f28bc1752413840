import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { JsonSchema } from "../neutral/conversation.ts";
import { isObject } from "../neutral/wire_value.ts";

/** Keywords with one schema, with a list of them, and with them by name. Source: JSON Schema 2020-12 and draft 7. */
const SINGLE = new Set([
  "additionalProperties",
  "additionalItems",
  "contains",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
const LISTS = new Set(["allOf", "anyOf", "oneOf", "prefixItems", "items"]);
const NAMED = new Set(["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"]);

/** What a keyword holds: one schema, a list of them, or them by name; null for a keyword without schemas. */
export function keywordKind(keyword: string): "single" | "list" | "named" | null {
  if (NAMED.has(keyword)) return "named";
  if (LISTS.has(keyword)) return "list";
  return SINGLE.has(keyword) ? "single" : null;
}

/** Deeper schemas stay as they are. */
const MAX_DEPTH = 128;

/**
 * Changes every schema of a schema, the inner ones first. Returns the schema itself if nothing changed, and schemas
 * without a change as they are. Names of properties are not schemas, whatever they are called.
 *
 * @param change Returns the schema itself where there is nothing to change.
 */
export function mapSchema(schema: JsonSchema, change: SchemaChange): JsonSchema {
  return mapAt(schema, change, 0);
}

/** Returns the schema itself where there is nothing to change. @param original The schema before inner changes. */
export type SchemaChange = (schema: JsonSchema, original: JsonSchema) => JsonSchema;

function mapAt(schema: JsonSchema, change: SchemaChange, depth: number): JsonSchema {
  if (depth > MAX_DEPTH) return schema;
  const inner = (value: unknown) => isObject(value) ? mapAt(value, change, depth + 1) : value;
  const changed: [string, unknown][] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const mapped = mapKeyword(keyword, value, inner);
    if (mapped !== value) changed.push([keyword, mapped]);
  }
  return change(changed.length === 0 ? schema : withMembers(schema, changed), schema);
}

function mapKeyword(keyword: string, value: unknown, inner: (value: unknown) => unknown): unknown {
  if (LISTS.has(keyword) && Array.isArray(value)) {
    const mapped = value.map(inner);
    return mapped.every((each, index) => each === value[index]) ? value : mapped;
  }
  if (NAMED.has(keyword) && isObject(value)) {
    const mapped = Object.entries(value).map(([name, each]): [string, unknown] => [name, inner(each)]);
    return mapped.every(([name, each]) => each === value[name]) ? value : Object.fromEntries(mapped);
  }
  return SINGLE.has(keyword) ? inner(value) : value;
}

/** The schema with other values of some members, in the same order. */
function withMembers(schema: JsonSchema, changed: readonly (readonly [string, unknown])[]): JsonObject {
  const values = new Map(changed);
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, values.has(name) ? values.get(name) : value]),
  );
}

/** The object with changed values; a property named `__proto__` stays a property. */
export function mapValues(object: JsonObject, change: (value: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
