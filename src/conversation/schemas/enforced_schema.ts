import { isJsonNumber } from "../../platform/lib/json/exact_json.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { JsonSchema } from "../neutral/conversation.ts";
import { isObject } from "../neutral/wire_value.ts";
import { FORMATS } from "./described_keywords.ts";

/** Keywords that the vendor rejects in an enforced schema, but that a model understands in a description. */
export const DESCRIBED_KEYWORDS = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
];

/** Keywords that the vendor rejects and that are not useful in a description. */
export const REJECTED_KEYWORDS = [
  "prefixItems",
  "if",
  "then",
  "else",
  "not",
  "contains",
  "patternProperties",
  "propertyNames",
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedProperties",
  "unevaluatedItems",
];

/** Keywords that are left out. The vendor ignores the first two. */
const REMOVED_KEYWORDS = ["$schema", "$id", ...REJECTED_KEYWORDS];

/** Minimum number of schemas to write. Lists of types multiply the schemas below them at every level. */
const MIN_SCHEMAS = 200;

/** How many schemas may still be written; the rest become empty. */
interface Allowance {
  left: number;
}

/**
 * Converts a schema to the subset that Anthropic and Bedrock enforce: closed objects, single types, limits in the
 * description. Sources: Messages API reference, "Structured outputs", "JSON Schema limitations"; Amazon Bedrock User
 * Guide, "Structured outputs".
 */
export function strictSchema(schema: JsonSchema): JsonObject {
  // The limit grows with the length, so that many small schemas cost no more than one large one.
  return strict(schema, { left: MIN_SCHEMAS + JSON.stringify(schema).length / 4 });
}

function strict(schema: JsonSchema, allowance: Allowance): JsonObject {
  if (--allowance.left < 0) return {};
  const joined = withoutAllOf(schema);
  const types = joined.type;
  if (Array.isArray(types)) {
    if (types.length === 1) return strict({ ...joined, type: types[0] }, allowance);
    const { type: _, description, ...rest } = joined;
    const anyOf = types.map((type) => strict(type === "null" ? { type } : { ...withoutNull(rest), type }, allowance));
    return { ...(typeof description === "string" ? { description } : {}), anyOf };
  }
  const clean: JsonObject = {};
  for (const [key, value] of Object.entries(joined)) {
    if (!REMOVED_KEYWORDS.includes(key)) Object.assign(clean, cleanKeyword(key, value, allowance));
  }
  const limits = describedLimits(joined);
  if (limits !== "") clean.description = `${clean.description ?? ""} (${limits})`.trimStart();
  return joined.type === "object" || joined.properties ? closed(clean) : clean;
}

function withoutNull(schema: JsonSchema): JsonSchema {
  return Array.isArray(schema.enum) ? { ...schema, enum: schema.enum.filter((value) => value !== null) } : schema;
}

function requiredOf(schema: JsonSchema): string[] {
  return Array.isArray(schema.required) ? schema.required : [];
}

/** Merges the branches of `allOf`. */
function withoutAllOf(schema: JsonSchema): JsonSchema {
  const { allOf, ...rest } = schema;
  if (!Array.isArray(allOf)) return schema;
  const all = [...allOf.filter(isObject).map(withoutAllOf), rest];
  const properties = Object.assign({}, ...all.map((part) => part.properties));
  const required = [...new Set(all.flatMap(requiredOf))];
  return {
    ...Object.assign({}, ...all),
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

function cleanKeyword(key: string, value: unknown, allowance: Allowance): JsonObject {
  if (DESCRIBED_KEYWORDS.includes(key)) return {};
  if (key === "format") return FORMATS.has(String(value)) ? { format: value } : {};
  if (key === "enum") return hasOnlyPlain(value) ? { enum: value } : {};
  if (key === "minItems") return value === 0 || value === 1 ? { minItems: value } : {};
  if (key === "oneOf" || key === "anyOf") {
    return Array.isArray(value) ? { anyOf: value.filter(isObject).map((inner) => strict(inner, allowance)) } : {};
  }
  if (key === "items") return isObject(value) ? { items: strict(value, allowance) } : {};
  if (key === "properties" || key === "$defs" || key === "definitions") {
    return { [key]: isObject(value) ? mapValues(value, allowance) : {} };
  }
  return { [key]: value };
}

/** Whether an enumeration has no objects and lists, which the vendor rejects. */
export function hasOnlyPlain(values: unknown): boolean {
  return !Array.isArray(values) ||
    values.every((value) => typeof value !== "object" || value === null || isJsonNumber(value));
}

function mapValues(schemas: JsonObject, allowance: Allowance): JsonObject {
  const entries = Object.entries(schemas).map((
    [name, schema],
  ) => [name, isObject(schema) ? strict(schema, allowance) : {}]);
  return Object.fromEntries(entries);
}

function describedLimits(schema: JsonSchema): string {
  const limits = DESCRIBED_KEYWORDS.filter((key) => schema[key] !== undefined).map((key) => `${key}: ${schema[key]}`);
  if (schema.format !== undefined && !FORMATS.has(String(schema.format))) limits.push(`format: ${schema.format}`);
  if (!hasOnlyPlain(schema.enum)) limits.push(`enum: ${JSON.stringify(schema.enum)}`);
  if (typeof schema.minItems === "number" && schema.minItems > 1) limits.push(`minItems: ${schema.minItems}`);
  return limits.join(", ");
}

function closed(schema: JsonObject): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = requiredOf(schema).filter((name) => Object.hasOwn(properties, name));
  const { required: _, ...rest } = schema;
  return { ...rest, properties, ...(required.length > 0 ? { required } : {}), additionalProperties: false };
}
