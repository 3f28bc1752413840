import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { JsonSchema } from "../neutral/conversation.ts";
import { isObject, numberOrNull, objectsOf } from "../neutral/wire_value.ts";
import { targetOf } from "./schema_references.ts";
import { mapValues } from "./schema_walk.ts";

/** Maximum depth of a schema; deeper parts are removed. A recursive reference ends where it returns to itself. */
const MAX_DEPTH = 32;
/** Minimum number of schemas to write; references can double them at every step. */
const MIN_SCHEMAS = 500;

/** Keywords of the vendor's schema type that need no change. Source: Gemini API reference, "Schema". */
const KEPT = [
  "title",
  "description",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "minLength",
  "maxLength",
  "pattern",
  "default",
] as const;

const FORMATS = new Set(["date-time", "int32", "int64", "float", "double"]);

/** The position of the walk in the schema. */
interface Position {
  readonly root: JsonSchema;
  /** References followed so far. */
  readonly path: readonly string[];
  readonly depth: number;
  /** How many schemas may still be written. */
  readonly allowance: { left: number };
  /** What is left out of it. */
  readonly changes: { isChanged: boolean };
}

/** A schema in the vendor's own type. */
export interface OpenApiSchema {
  readonly schema: JsonSchema;
  /** True when it leaves out a recursion, or an empty text of an enumeration. */
  readonly isChanged: boolean;
}

/**
 * Converts a JSON Schema to the vendor's own schema type, for models and vendors without JSON Schema. References are
 * inlined, `oneOf` becomes `anyOf`, `allOf` is merged, null becomes `nullable`, constants become enumerations.
 * Everything else is left out.
 */
export function openApiSchemaOf(schema: JsonSchema): OpenApiSchema {
  // The limit grows with the length, so that many small schemas cost no more than one large one.
  const allowance = { left: MIN_SCHEMAS + JSON.stringify(schema).length };
  const changes = { isChanged: false };
  const written = convert(schema, { root: schema, path: [], depth: 0, allowance, changes });
  return { schema: written, isChanged: changes.isChanged };
}

function convert(schema: unknown, position: Position): JsonObject {
  if (!isObject(schema) || position.depth > MAX_DEPTH || --position.allowance.left < 0) return {};
  const deeper = { ...position, depth: position.depth + 1 };
  if (typeof schema.$ref === "string") return convertReference(schema, schema.$ref, deeper);
  if (Array.isArray(schema.allOf)) return convert(mergedOf(schema, deeper), deeper);
  const choices = choicesOf(schema);
  if (choices !== null) return convertChoices(schema, choices, deeper);
  return convertPlain(schema, deeper);
}

function convertReference(schema: JsonObject, reference: string, position: Position): JsonObject {
  if (position.path.includes(reference)) {
    position.changes.isChanged = true;
    return { type: "OBJECT" };
  }
  const target = targetOf(position.root, reference);
  const { $ref: _, ...beside } = schema;
  return convert({ ...(target ?? { type: "object" }), ...beside }, {
    ...position,
    path: [...position.path, reference],
  });
}

function mergedOf(schema: JsonObject, position: Position): JsonObject {
  const { allOf, ...merged } = schema;
  const properties = { ...asObject(merged.properties) };
  const required = new Set(asList(merged.required));
  for (const branch of objectsOf(allOf)) {
    const target = typeof branch.$ref === "string" ? targetOf(position.root, branch.$ref) : null;
    const part = target ?? branch;
    const added = Object.entries(asObject(part.properties));
    position.allowance.left -= 1 + added.length + asList(part.required).length;
    if (position.allowance.left < 0) break;
    for (const [name, value] of added) if (!Object.hasOwn(properties, name)) properties[name] = value;
    for (const name of asList(part.required)) required.add(name);
    for (const [key, value] of Object.entries(part)) if (merged[key] === undefined) merged[key] = value;
  }
  merged.required = [...required];
  if (Object.keys(properties).length > 0) merged.properties = properties;
  else delete merged.properties;
  return merged;
}

/** The alternatives in `anyOf`, `oneOf` or a list of types; null when there are none. */
function choicesOf(schema: JsonObject): JsonObject[] | null {
  const named = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(named)) return objectsOf(named);
  if (!Array.isArray(schema.type)) return null;
  return schema.type.map((type) => type === "null" ? { type } : { ...schema, type });
}

function convertChoices(schema: JsonObject, choices: readonly JsonObject[], position: Position): JsonObject {
  const rest = choices.filter((choice) => choice.type !== "null");
  const converted = rest.map((choice) => convert(choice, position));
  const description = typeof schema.description === "string" ? { description: schema.description } : {};
  const nullable = rest.length < choices.length ? { nullable: true } : {};
  return converted.length === 1
    ? { ...converted[0], ...description, ...nullable }
    : { ...description, anyOf: converted, ...nullable };
}

function convertPlain(schema: JsonObject, position: Position): JsonObject {
  const written: JsonObject = {};
  const type = typeof schema.type === "string" ? schema.type : isObject(schema.properties) ? "object" : null;
  if (type !== null) written.type = type.toUpperCase();
  for (const keyword of KEPT) if (schema[keyword] !== undefined) written[keyword] = schema[keyword];
  if (FORMATS.has(schema.format as string)) written.format = schema.format;
  addBounds(written, schema, type);
  addEnumeration(written, schema, position);
  if (type === "object") addProperties(written, schema, position);
  // The vendor rejects an array without an item type; text is the least restrictive one.
  if (type === "array") written.items = isObject(schema.items) ? convert(schema.items, position) : { type: "STRING" };
  return written;
}

function addBounds(written: JsonObject, schema: JsonObject, type: string | null): void {
  const step = type === "integer" ? 1 : 0;
  const above = numberOrNull(schema.exclusiveMinimum);
  const below = numberOrNull(schema.exclusiveMaximum);
  const minimum = numberOrNull(schema.minimum) ?? (above === null ? null : above + step);
  const maximum = numberOrNull(schema.maximum) ?? (below === null ? null : below - step);
  if (minimum !== null) written.minimum = minimum;
  if (maximum !== null) written.maximum = maximum;
}

/**
 * Adds an enumeration. The vendor accepts only texts that are not empty; other values are listed in the description.
 * Null is not among them: it is `nullable`.
 */
function addEnumeration(written: JsonObject, schema: JsonObject, { changes }: Position): void {
  const listed = Array.isArray(schema.enum) ? schema.enum : schema.const === undefined ? [] : [schema.const];
  const values = listed.filter((value) => value !== null);
  if (values.length < listed.length && schema.type === undefined) written.nullable = true;
  if (values.length === 0) return;
  if (values.every((value) => typeof value === "string")) {
    const texts = values.filter((value) => value !== "");
    if (texts.length < values.length) changes.isChanged = true;
    if (texts.length > 0) written.enum = texts;
    written.type ??= "STRING";
    return;
  }
  const note = `One of: ${values.map((value) => JSON.stringify(value)).join(", ")}`;
  written.description = typeof written.description === "string" ? `${written.description} (${note})` : note;
}

function addProperties(written: JsonObject, schema: JsonObject, position: Position): void {
  const properties = asObject(schema.properties);
  // The vendor rejects an object with an empty list of properties.
  if (Object.keys(properties).length === 0) return;
  written.properties = mapValues(properties, (value) => convert(value, position));
  const required = asList(schema.required).filter((name) =>
    typeof name === "string" && Object.hasOwn(properties, name)
  );
  if (required.length > 0) written.required = [...new Set(required)];
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
