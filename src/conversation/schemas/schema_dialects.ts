import type { JsonObject } from "../../lib/json_object.ts";
import type { JsonSchema } from "../conversation.ts";
import { mapSchema } from "./schema_walk.ts";
import { isObject, listOf, textOf } from "../wire_value.ts";

/**
 * Adds `items` to arrays that have none, as OpenAI requires at every depth: "array schema missing items". Any item is
 * allowed, as before.
 */
export function withItems(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, (each) => isArraySchema(each) && !hasItems(each) ? { ...each, items: {} } : each);
}

function isArraySchema({ type }: JsonSchema): boolean {
  return type === "array" || listOf(type).includes("array");
}

function hasItems({ items, prefixItems }: JsonSchema): boolean {
  return items !== undefined || prefixItems !== undefined;
}

/**
 * Rewrites keywords of earlier drafts in draft 2020-12, which Anthropic and Bedrock require: boolean bounds, lists of
 * `items`, `definitions`, `dependencies` and `id`. Source: Messages API reference, `tools.input_schema`; JSON Schema
 * 2020-12, "Release notes".
 */
export function modernSchema(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, (each) => isOld(each) ? modernized(each) : each);
}

const OLD_KEYWORDS = ["additionalItems", "definitions", "dependencies"];

function isOld(schema: JsonSchema): boolean {
  const { $schema, $ref, id, items, exclusiveMaximum, exclusiveMinimum } = schema;
  return typeof exclusiveMinimum === "boolean" || typeof exclusiveMaximum === "boolean" || Array.isArray(items) ||
    typeof id === "string" || textOf($ref).startsWith(OLD_REFERENCE) ||
    ($schema !== undefined && !textOf($schema).includes("2020-12")) ||
    OLD_KEYWORDS.some((keyword) => schema[keyword] !== undefined);
}

const OLD_REFERENCE = "#/definitions/";

function modernized(schema: JsonSchema): JsonSchema {
  const { $schema, id, definitions, dependencies, additionalItems, ...kept } = schema;
  const modern: JsonObject = { ...kept };
  if ($schema !== undefined && textOf($schema).includes("2020-12")) modern.$schema = $schema;
  if (id !== undefined && typeof id !== "string") modern.id = id;
  if (isObject(definitions)) modern.$defs = { ...definitions, ...(isObject(schema.$defs) ? schema.$defs : {}) };
  const reference = textOf(schema.$ref);
  if (reference.startsWith(OLD_REFERENCE)) modern.$ref = `#/$defs/${reference.slice(OLD_REFERENCE.length)}`;
  if (isObject(dependencies)) addDependencies(modern, dependencies);
  if (Array.isArray(schema.items)) {
    delete modern.items;
    if (schema.items.length > 0) modern.prefixItems = schema.items;
    if (additionalItems !== undefined) modern.items = additionalItems;
  }
  moveBound(modern, "minimum", "exclusiveMinimum");
  moveBound(modern, "maximum", "exclusiveMaximum");
  return modern;
}

/** In draft 4 the exclusive bound is a switch beside the bound. */
function moveBound(schema: JsonObject, bound: string, exclusive: string): void {
  if (typeof schema[exclusive] !== "boolean") return;
  const isExclusive = schema[exclusive] && typeof schema[bound] === "number";
  if (isExclusive) {
    schema[exclusive] = schema[bound];
    delete schema[bound];
  } else delete schema[exclusive];
}

function addDependencies(modern: JsonObject, dependencies: JsonObject): void {
  const required = Object.entries(dependencies).filter(([, value]) => Array.isArray(value));
  const schemas = Object.entries(dependencies).filter(([, value]) => isObject(value));
  if (required.length > 0) modern.dependentRequired = Object.fromEntries(required);
  if (schemas.length > 0) modern.dependentSchemas = Object.fromEntries(schemas);
}

/**
 * Moves members beside `$ref` out of its schema: Gemini allows only members that begin with `$` there. The reference
 * becomes the only alternative of `anyOf`. Source: Gemini API reference, `responseJsonSchema`.
 */
export function withBareReferences(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, (each) => {
    if (typeof each.$ref !== "string") return each;
    const others = Object.entries(each).filter(([name]) => !name.startsWith("$"));
    if (others.length === 0) return each;
    const own = Object.entries(each).filter(([name]) => name.startsWith("$") && !DEFINITIONS.includes(name));
    const definitions = Object.entries(each).filter(([name]) => DEFINITIONS.includes(name));
    return Object.fromEntries([...definitions, ...others, ["anyOf", [Object.fromEntries(own)]]]);
  });
}

const DEFINITIONS = ["$defs", "definitions"];

/**
 * Whether a schema refers to itself, directly or by other definitions. Anthropic and Bedrock refuse such a schema for
 * an output format and for a strict tool. Source: Messages API reference, "Structured outputs".
 */
export function isRecursive(schema: JsonSchema): boolean {
  const targets = new Map<string, ReadonlySet<string>>();
  for (const group of DEFINITIONS) {
    const definitions = isObject(schema[group]) ? schema[group] : {};
    for (const [name, each] of Object.entries(definitions)) {
      targets.set(`#/${group}/${name}`, isObject(each) ? referencesIn(each) : new Set());
    }
  }
  const { $defs: _defs, definitions: _definitions, ...root } = schema;
  targets.set("#", referencesIn(root));
  return [...targets.keys()].some((start) => reaches(start, start, targets));
}

function referencesIn(schema: JsonSchema): ReadonlySet<string> {
  const found = new Set<string>();
  mapSchema(schema, (each) => {
    if (typeof each.$ref === "string") found.add(each.$ref);
    return each;
  });
  return found;
}

/** Whether references lead from one definition to another. Each definition is visited once. */
function reaches(start: string, wanted: string, targets: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const seen = new Set<string>();
  const open = [...targets.get(start) ?? []];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === wanted) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...targets.get(next) ?? []);
  }
  return false;
}
