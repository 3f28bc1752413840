import { isJsonNumber } from "../../platform/lib/json/exact_json.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { JsonSchema } from "../neutral/conversation.ts";
import { isObject, listOf, textOf } from "../neutral/wire_value.ts";
import { changedReference } from "./schema_references.ts";
import { FEATURES, featuresOf, isSchema } from "./schema_features.ts";
import { mapSchema } from "./schema_walk.ts";

/**
 * Rewrites keywords of earlier drafts in draft 2020-12, which Anthropic and Bedrock require: boolean bounds, lists of
 * `items`, `definitions`, `dependencies`, `id`, and `required` of a single property. Types that no draft has are left
 * out, and properties whose value is no schema, such as a misplaced `type`. Source: Messages API reference,
 * `tools.input_schema`; JSON Schema 2020-12, "Release notes".
 */
export function modernSchema(schema: JsonSchema): JsonSchema {
  if ((featuresOf(schema) & FEATURES.old) === 0) return schema;
  return mapSchema(mapSchema(schema, withRequiredNames), (each) => isOld(each) ? modernized(each, true) : each);
}

/**
 * Rewrites where a schema stands in earlier drafts: lists of `items`, `definitions` and `dependencies`. Bounds stay,
 * for vendors that know those of OpenAPI.
 */
export function modernStructure(schema: JsonSchema): JsonSchema {
  if ((featuresOf(schema) & FEATURES.oldStructure) === 0) return schema;
  return mapSchema(schema, (each) => hasOldStructure(each) ? modernized(each, false) : each);
}

function isOld(schema: JsonSchema): boolean {
  const { $schema, id, required, type, exclusiveMaximum, exclusiveMinimum } = schema;
  return typeof exclusiveMinimum === "boolean" || typeof exclusiveMaximum === "boolean" || typeof id === "string" ||
    typeof required === "boolean" || hasRepeatedName(required) || (type !== undefined && !isType(type)) ||
    ($schema !== undefined && !textOf($schema).includes("2020-12")) || hasOldStructure(schema) ||
    hasOtherProperties(schema);
}

function hasOtherProperties({ properties }: JsonSchema): boolean {
  return isObject(properties) && !Object.values(properties).every(isSchema);
}

function hasOldStructure(schema: JsonSchema): boolean {
  return Array.isArray(schema.items) || OLD_KEYWORDS.some((keyword) => schema[keyword] !== undefined) ||
    (typeof schema.$ref === "string" && modernReference(schema.$ref) !== schema.$ref);
}

const OLD_KEYWORDS = ["additionalItems", "definitions", "dependencies"];

const TYPES = new Set<unknown>(["array", "boolean", "integer", "null", "number", "object", "string"]);

function isType(type: unknown): boolean {
  return Array.isArray(type) ? type.length > 0 && type.every((each) => TYPES.has(each)) : TYPES.has(type);
}

function hasRepeatedName(required: unknown): boolean {
  return Array.isArray(required) && new Set(required).size < required.length;
}

function modernized(schema: JsonSchema, changesBounds: boolean): JsonSchema {
  const { $schema, id, definitions, dependencies, additionalItems, ...modern }: { [keyword: string]: unknown } = schema;
  if ($schema !== undefined && (!changesBounds || textOf($schema).includes("2020-12"))) modern.$schema = $schema;
  if (id !== undefined && (!changesBounds || typeof id !== "string")) modern.id = id;
  if (hasOtherProperties(schema) && isObject(schema.properties)) {
    modern.properties = Object.fromEntries(Object.entries(schema.properties).filter(([, each]) => isSchema(each)));
  }
  if (isObject(definitions)) modern.$defs = { ...definitions, ...(isObject(schema.$defs) ? schema.$defs : {}) };
  if (typeof schema.$ref === "string") modern.$ref = modernReference(schema.$ref);
  if (isObject(dependencies)) addDependencies(modern, dependencies);
  if (Array.isArray(schema.items)) {
    delete modern.items;
    if (schema.items.length > 0) modern.prefixItems = schema.items;
    if (additionalItems !== undefined) modern.items = additionalItems;
  }
  if (!changesBounds) return modern;
  moveBound(modern, "minimum", "exclusiveMinimum");
  moveBound(modern, "maximum", "exclusiveMaximum");
  addModernType(modern);
  if (typeof modern.required === "boolean") delete modern.required;
  else if (Array.isArray(modern.required)) modern.required = [...new Set(modern.required)];
  return modern;
}

/** A reference to the same place in the modern schema. */
function modernReference(reference: string): string {
  return changedReference(reference, {
    keyword(keyword, next) {
      if (keyword === "definitions") return "$defs";
      if (keyword === "dependencies") return "dependentSchemas";
      return keyword === "items" && /^\d+$/.test(next ?? "") ? "prefixItems" : keyword;
    },
  });
}

/** In draft 4 the exclusive bound is a switch beside the bound. */
function moveBound(schema: JsonObject, bound: string, exclusive: string): void {
  if (typeof schema[exclusive] !== "boolean") return;
  const isExclusive = schema[exclusive] && isJsonNumber(schema[bound]);
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

/** OpenAPI writes types in capitals in some places, and draft 3 has `any`. */
function addModernType(schema: JsonObject): void {
  if (schema.type === undefined || isType(schema.type)) return;
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).map((type) => textOf(type).toLowerCase());
  if (types.length > 0 && types.every((type) => TYPES.has(type))) schema.type = types.length === 1 ? types[0] : types;
  else delete schema.type;
}

/** In draft 3 a property says itself that it is required, and many schemas still do. */
function withRequiredNames(schema: JsonSchema): JsonSchema {
  if (!isObject(schema.properties)) return schema;
  const marked = Object.entries(schema.properties).filter(([, each]) =>
    isObject(each) && typeof each.required === "boolean"
  );
  if (marked.length === 0) return schema;
  const properties = Object.entries(schema.properties).map(([name, each]): [string, unknown] => {
    if (!isObject(each) || typeof each.required !== "boolean") return [name, each];
    const { required: _, ...rest } = each;
    return [name, rest];
  });
  const added = marked.filter(([, each]) => isObject(each) && each.required === true).map(([name]) => name);
  const required = [...new Set([...listOf(schema.required), ...added])];
  return { ...schema, properties: Object.fromEntries(properties), ...(required.length > 0 && { required }) };
}
