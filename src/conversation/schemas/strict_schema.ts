import type { JsonSchema } from "../neutral/conversation.ts";
import { isObject, listOf, objectOf } from "../neutral/wire_value.ts";
import { isSimplePattern } from "./described_keywords.ts";

/** Keywords that a strict schema may not contain. */
const UNSUPPORTED_KEYWORDS = [
  "default",
  "oneOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
  "patternProperties",
  "dependentSchemas",
  "prefixItems",
  "propertyNames",
  "contains",
  "minContains",
  "maxContains",
  "minProperties",
  "maxProperties",
  "uniqueItems",
  "unevaluatedItems",
  "unevaluatedProperties",
];

/** Levels of objects and arrays in the schema, and in each of its definitions. */
const MAX_NESTING = 10;
const MAX_PROPERTIES = 5_000;
/** Levels of combinations, which do not count as nesting. */
const MAX_DEPTH = 64;

const REFERENCE = /^#$|^#\/(?:\$defs|definitions)\/[^/]+$/;

/**
 * Whether OpenAI accepts a schema as strict: an object without `anyOf` at the top, every object with
 * `additionalProperties: false`, every property required, every item with a type.
 * Source: Structured outputs guide, "Supported schemas".
 */
export function isStrictSchema(schema: unknown): boolean {
  return isObject(schema) && schema.type === "object" && !("anyOf" in schema) && !("enum" in schema) &&
    isClosed(schema, { nesting: 0, depth: 0 }, { properties: 0 });
}

interface Position {
  readonly nesting: number;
  readonly depth: number;
}

function isClosed(schema: unknown, position: Position, count: { properties: number }): boolean {
  if (!isObject(schema) || position.depth > MAX_DEPTH) return false;
  const isContainer = schema.type === "object" || schema.type === "array" || isObject(schema.properties);
  if (isContainer && position.nesting >= MAX_NESTING) return false;
  if (UNSUPPORTED_KEYWORDS.some((keyword) => keyword in schema) || !hasAcceptedTexts(schema)) return false;
  const properties = objectOf(schema.properties);
  if (schema.type === "object" || properties) {
    const names = new Set<unknown>(Object.keys(properties ?? {}));
    count.properties += names.size;
    if (schema.additionalProperties !== false || count.properties > MAX_PROPERTIES) return false;
    if (names.symmetricDifference(new Set(listOf(schema.required))).size > 0) return false;
  }
  const { items } = schema;
  if (items !== undefined && !isTyped(items)) return false;
  const definitions = [schema.$defs, schema.definitions].flatMap((group) => Object.values(objectOf(group) ?? {}));
  const depth = position.depth + 1;
  const inner = { nesting: position.nesting + 1, depth };
  return [...Object.values(properties ?? {}), ...(items === undefined ? [] : [items])].every((part) =>
    isClosed(part, inner, count)
  ) &&
    listOf(schema.anyOf).every((part) => isClosed(part, { ...position, depth }, count)) &&
    definitions.every((part) => isClosed(part, { nesting: 0, depth }, count));
}

function isTyped(items: unknown): boolean {
  return isObject(items) && ["type", "anyOf", "$ref", "enum", "const"].some((keyword) => keyword in items);
}

/** References lead to definitions and stand alone; patterns have no assertions. */
function hasAcceptedTexts(schema: JsonSchema): boolean {
  const { $ref, pattern } = schema;
  if (typeof pattern === "string" && !isSimplePattern(pattern)) return false;
  if ($ref === undefined) return true;
  return typeof $ref === "string" && REFERENCE.test($ref) &&
    Object.keys(schema).every((keyword) => keyword.startsWith("$"));
}
