import type { JsonObject } from "../platform/lib/json/json_object.ts";
import { isObject, listOf, objectsOf } from "../conversation/neutral/wire_value.ts";
import { textFor } from "./schema_text.ts";

/** Beyond this depth only required values are generated, so that recursive schemas end. */
const GENEROUS_DEPTH = 5;
/** Beyond this depth nothing is generated: a schema that requires itself has no instance. */
const MAX_DEPTH = 40;

/** A position in the schema. */
interface Place {
  readonly root: unknown;
  readonly depth: number;
  /** The name of the generated property. Texts contain it. */
  readonly name: string;
}

/**
 * Returns a value that satisfies a JSON Schema, always the same one. Supports the keywords that vendors of structured
 * output accept: types, properties, items, enumerations, references, choices, bounds, formats and common patterns.
 * Optional properties are generated too, recursive ones a few levels deep.
 */
export function instanceOf(schema: unknown): unknown {
  return make(schema, { root: schema, depth: 0, name: "text" });
}

function make(schema: unknown, place: Place): unknown {
  if (!isObject(schema) || place.depth > MAX_DEPTH) return null;
  const deeper = { ...place, depth: place.depth + 1 };
  if (typeof schema.$ref === "string") return make(besideReference(schema, schema.$ref, place), deeper);
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (Array.isArray(schema.allOf)) return make(joined(schema, place), deeper);
  const choices = Array.isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
  if (Array.isArray(choices)) return make(chosen(schema, choices, place), deeper);
  return makeTyped(schema, typeOf(schema), place);
}

function besideReference(schema: JsonObject, reference: string, { root }: Place): JsonObject {
  const { $ref: _, ...beside } = schema;
  let target: unknown = root;
  for (const step of reference.replace(/^#\/?/, "").split("/").filter((step) => step !== "")) {
    const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    target = isObject(target) ? target[key] : Array.isArray(target) ? target[Number(key)] : undefined;
  }
  return { ...(isObject(target) ? target : {}), ...beside };
}

/** Merges all parts of `allOf`. */
function joined(schema: JsonObject, place: Place): JsonObject {
  const { allOf, ...rest } = schema;
  const parts = [...objectsOf(allOf), rest].map((part) =>
    typeof part.$ref === "string" ? besideReference(part, part.$ref, place) : part
  );
  const properties = Object.assign({}, ...parts.map((part) => part.properties));
  const required = [...new Set(parts.flatMap((part) => listOf(part.required)))];
  const whole: JsonObject = Object.assign({}, ...parts);
  if (Object.keys(properties).length > 0) whole.properties = properties;
  if (required.length > 0) whole.required = required;
  return whole;
}

/**
 * Returns the first choice that is not null. At depth it returns the last one, where recursive schemas tend to end.
 */
function chosen(schema: JsonObject, choices: readonly unknown[], place: Place): JsonObject {
  const { anyOf: _anyOf, oneOf: _oneOf, ...rest } = schema;
  const filled = objectsOf(choices).filter((choice) => choice.type !== "null");
  const nothing = objectsOf(choices).find((choice) => choice.type === "null");
  const choice = place.depth <= GENEROUS_DEPTH ? filled[0] ?? nothing : nothing ?? filled.at(-1);
  return joined({ allOf: [choice ?? {}, rest] }, place);
}

function typeOf(schema: JsonObject): string {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  const type = types.find((candidate) => candidate !== "null") ?? types[0];
  if (typeof type === "string") return type.toLowerCase();
  if (schema.properties !== undefined || schema.required !== undefined) return "object";
  if (schema.items !== undefined) return "array";
  if (["minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"].some((key) => key in schema)) {
    return "number";
  }
  return "string";
}

function makeTyped(schema: JsonObject, type: string, place: Place): unknown {
  switch (type) {
    case "object":
      return makeObject(schema, place);
    case "array":
      return makeArray(schema, place);
    case "number":
    case "integer":
      return numberFor(schema, type === "integer");
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return textFor(schema, place.name);
  }
}

function makeObject(schema: JsonObject, place: Place): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = listOf(schema.required).filter((name) => typeof name === "string");
  const names = place.depth <= GENEROUS_DEPTH ? [...new Set([...Object.keys(properties), ...required])] : required;
  const made: JsonObject = {};
  for (const name of names) {
    const inner = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
    made[name] = make(isObject(inner) ? inner : {}, { ...place, depth: place.depth + 1, name });
  }
  return made;
}

function makeArray(schema: JsonObject, place: Place): unknown[] {
  const least = numberIn(schema.minItems) ?? (place.depth <= GENEROUS_DEPTH ? 1 : 0);
  const length = Math.min(Math.max(least, 0), numberIn(schema.maxItems) ?? Infinity, 1000);
  const leading = listOf(schema.prefixItems);
  return Array.from({ length: Math.max(length, leading.length) }, (_, index) => {
    const item = index < leading.length ? leading[index] : schema.items;
    const made = make(isObject(item) ? item : {}, { ...place, depth: place.depth + 1 });
    return schema.uniqueItems === true && index > 0 ? variantOf(made, item, index) : made;
  });
}

/** Returns another value of the same schema, for lists whose items must differ. */
function variantOf(value: unknown, schema: unknown, index: number): unknown {
  if (isObject(schema) && Array.isArray(schema.enum)) return schema.enum[index % schema.enum.length];
  if (typeof value === "number") return value + index * (isObject(schema) ? numberIn(schema.multipleOf) ?? 1 : 1);
  if (typeof value === "string") return `${value}${index + 1}`;
  if (typeof value === "boolean") return index % 2 === 0;
  return value;
}

function numberFor(schema: JsonObject, whole: boolean): number {
  const step = numberIn(schema.multipleOf) ?? (whole ? 1 : null);
  const gap = step ?? 0.5;
  const above = numberIn(schema.exclusiveMinimum);
  const below = numberIn(schema.exclusiveMaximum);
  const least = Math.max(numberIn(schema.minimum) ?? -Infinity, above === null ? -Infinity : above + gap);
  const most = Math.min(numberIn(schema.maximum) ?? Infinity, below === null ? Infinity : below - gap);
  const wanted = Math.min(Math.max(1, least), most);
  if (step === null) return between(wanted, above, below);
  const up = Math.ceil(wanted / step) * step;
  return up <= most ? up : Math.floor(most / step) * step;
}

/** If the bounds are closer than the default gap, the middle is returned. */
function between(wanted: number, above: number | null, below: number | null): number {
  if (above !== null && below !== null && (wanted <= above || wanted >= below)) return (above + below) / 2;
  return wanted;
}

function numberIn(value: unknown): number | null {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}
