import type { JsonSchema } from "../conversation.ts";
import { isObject, listOf, objectOf } from "../wire_value.ts";

/** Keywords that a strict schema may not contain. */
const UNSUPPORTED_KEYWORDS = [
  "oneOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
  "patternProperties",
  "dependentSchemas",
  "prefixItems",
];
const MAX_DEPTH = 64;

/**
 * Whether OpenAI accepts a schema as strict: an object without `anyOf` at the top, every object with
 * `additionalProperties: false`, every property required.
 * Source: Structured outputs guide, "Supported schemas".
 */
export function isStrictSchema(schema: unknown): boolean {
  return isObject(schema) && schema.type === "object" && !("anyOf" in schema) && !("enum" in schema) &&
    isClosed(schema, 0);
}

function isClosed(schema: unknown, depth: number): boolean {
  if (!isObject(schema) || depth > MAX_DEPTH || UNSUPPORTED_KEYWORDS.some((keyword) => keyword in schema)) return false;
  const properties = objectOf(schema.properties);
  if (schema.type === "object" || properties) {
    const required = new Set(listOf(schema.required));
    const names = new Set<unknown>(Object.keys(properties ?? {}));
    if (schema.additionalProperties !== false || names.symmetricDifference(required).size > 0) return false;
  }
  return partsOf(schema).every((part) => isClosed(part, depth + 1));
}

function partsOf(schema: JsonSchema): unknown[] {
  const named = [schema.properties, schema.$defs, schema.definitions].flatMap((group) =>
    Object.values(objectOf(group) ?? {})
  );
  return [...named, ...listOf(schema.anyOf), ...(schema.items === undefined ? [] : [schema.items])];
}
