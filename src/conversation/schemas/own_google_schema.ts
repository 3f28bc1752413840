import { isAbsent, isObject } from "../neutral/wire_value.ts";

/** The members of Google's own schema type, in both spellings. Source: Gemini API reference, "Schema". */
const KEYWORDS = new Set(
  ("type format title description nullable enum items minItems maxItems properties required minProperties " +
    "maxProperties minLength maxLength pattern example anyOf propertyOrdering default minimum maximum min_items " +
    "max_items min_properties max_properties min_length max_length any_of property_ordering").split(" "),
);
const TYPES = new Set(["TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"]);
/** Source: the vendor's error messages: "only 'enum' and 'date-time' are supported for STRING type". */
const TEXT_FORMATS = new Set<unknown>(["enum", "date-time"]);

/** Deeper values are not searched; they stay as they are. */
const MAX_DEPTH = 300;

/**
 * Whether a value is a schema of Google's own type as the vendor accepts it. Clients that convert JSON Schema leave
 * members in it that the vendor refuses, such as `additionalProperties`, `$ref` or a list of types.
 */
export function isOwnGoogleSchema(schema: unknown, depth = 0): boolean {
  if (!isObject(schema)) return false;
  if (depth > MAX_DEPTH) return true;
  const { type, items, properties, required, format } = schema;
  for (const name in schema) {
    const value = schema[name];
    if (!KEYWORDS.has(name)) return false;
    if (isAbsent(value)) continue;
    if (name === "enum" && !isEnumeration(value)) return false;
    if ((name === "anyOf" || name === "any_of") && !areOwn(value, depth)) return false;
  }
  const kind = isAbsent(type) ? "" : String(type).toUpperCase();
  if (!isAbsent(type) && (typeof type !== "string" || !TYPES.has(kind))) return false;
  if (isAbsent(items) ? kind === "ARRAY" : !isOwnGoogleSchema(items, depth + 1)) return false;
  if (!isAbsent(properties) && !haveOwn(properties, depth)) return false;
  if (kind === "STRING" && !isAbsent(format) && !TEXT_FORMATS.has(format)) return false;
  return isAbsent(required) || areDefined(required, properties);
}

function isEnumeration(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string" && each !== "");
}

function areOwn(list: unknown, depth: number): boolean {
  const schemas = Array.isArray(list) ? list : [list];
  return schemas.every((each) => isOwnGoogleSchema(each, depth + 1));
}

function haveOwn(properties: unknown, depth: number): boolean {
  if (!isObject(properties)) return false;
  for (const name in properties) if (!isOwnGoogleSchema(properties[name], depth + 1)) return false;
  return true;
}

function areDefined(required: unknown, properties: unknown): boolean {
  const names = Array.isArray(required) ? required : [required];
  return names.length === 0 || (isObject(properties) && names.every((name) => Object.hasOwn(properties, String(name))));
}
