import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { isObject, listOf, objectOf, textOf } from "../../conversation/neutral/wire_value.ts";

/**
 * What the vendors refuse in a schema, in their words. The rules are written apart from what the gateway sends, so that
 * a fault of one does not hide in the other.
 */

/** A schema within a schema, with the steps to it. */
interface Place {
  readonly schema: JsonObject;
  readonly steps: readonly string[];
  /** Levels of objects and arrays above it, in the schema or the definition that it is in. */
  readonly nesting: number;
  /** The definition that it is in; empty for the schema itself. */
  readonly definition: string;
  /** Whether it is below a property, and all properties above it in the definition are required. */
  readonly isRequired: boolean;
}

const WITH_NAMES = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
const WITH_LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const WITH_ONE = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"];

function placesIn(schema: JsonObject): Place[] {
  const places: Place[] = [];
  const open: Place[] = [{ schema, steps: [], nesting: 0, definition: "#", isRequired: false }];
  for (let place = open.shift(); place !== undefined; place = open.shift()) {
    places.push(place);
    const { steps, nesting, definition, isRequired } = place;
    const isFirst = !steps.slice(definition === "#" ? 0 : 2).includes("properties");
    const isContainer = place.schema.type === "object" || place.schema.type === "array";
    const add = (value: unknown, more: readonly string[], own: Partial<Place> = {}) => {
      if (!isObject(value)) return;
      open.push({
        schema: value,
        steps: [...steps, ...more],
        nesting: nesting + (isContainer ? 1 : 0),
        definition,
        isRequired,
        ...own,
      });
    };
    for (const keyword of WITH_NAMES) {
      const isDefinition = keyword === "$defs" || keyword === "definitions";
      for (const [name, value] of Object.entries(objectOf(place.schema[keyword]) ?? {})) {
        const own = isDefinition
          ? { nesting: 0, definition: `#/${keyword}/${name}`, isRequired: false }
          : keyword === "properties"
          ? { isRequired: (isFirst || isRequired) && listOf(place.schema.required).includes(name) }
          : {};
        add(value, [keyword, name], own);
      }
    }
    for (const keyword of WITH_LISTS) {
      listOf(place.schema[keyword]).forEach((value, index) => add(value, [keyword, String(index)], { nesting }));
    }
    for (const keyword of WITH_ONE) add(place.schema[keyword], [keyword]);
  }
  return places;
}

/** The first fault that a rule finds at any place of a schema; null for none. */
function firstFault(schema: JsonObject, rule: (place: Place) => string | null): string | null {
  for (const place of placesIn(schema)) {
    const fault = rule(place);
    if (fault !== null) return fault;
  }
  return null;
}

function contextOf({ steps }: Place): string {
  return `In context=(${steps.map((step) => `'${step}'`).join(", ")})`;
}

function hasType({ type }: JsonObject, wanted: string): boolean {
  return type === wanted || listOf(type).includes(wanted);
}

const NOT_STRICT = "default oneOf allOf patternProperties unevaluatedProperties propertyNames minProperties " +
  "maxProperties unevaluatedItems contains minContains maxContains uniqueItems not if then else dependentSchemas";
const NOT_STRICT_KEYWORDS = NOT_STRICT.split(" ");

/**
 * What OpenAI says about a schema. Source: Structured outputs guide, "Supported schemas"; the vendor's error messages.
 *
 * @returns Null if it is accepted.
 */
export function openAiFault(schema: unknown, isStrict: boolean): string | null {
  if (!isObject(schema)) return null;
  const missing = firstFault(
    schema,
    (place) =>
      hasType(place.schema, "array") && place.schema.items === undefined && place.schema.prefixItems === undefined
        ? `${contextOf(place)}, array schema missing items.`
        : null,
  );
  if (missing !== null) return missing;
  const invalid = firstFault(schema, ({ schema: each }) => invalidFault(each));
  if (invalid !== null || !isStrict) return invalid;
  const places = placesIn(schema);
  const names = places.flatMap((place) => Object.keys(objectOf(place.schema.properties) ?? {}));
  if (names.length > 5_000) return `schema exceeds the limit of 5000 object properties.`;
  return firstFault(schema, (place) => strictFault(place));
}

/** What the vendor's validator says of a schema that no draft after 4 has. Sources: public reports with the answers. */
function invalidFault(schema: JsonObject): string | null {
  const { type, required, items, exclusiveMinimum, exclusiveMaximum, properties } = schema;
  if (typeof exclusiveMinimum === "boolean" || typeof exclusiveMaximum === "boolean") {
    return "True is not of type 'number'.";
  }
  if (typeof required === "boolean") return "True is not of type 'array'.";
  if (Array.isArray(required) && new Set(required).size < required.length) {
    return `${JSON.stringify(required)} has non-unique elements.`;
  }
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type];
  const other = types.find((each) => !TYPES.includes(textOf(each)));
  if (other !== undefined) return `'${textOf(other)}' is not valid under any of the given schemas.`;
  const inner = [...Object.values(objectOf(properties) ?? {}), ...Array.isArray(items) ? [items] : []];
  const isSchema = (value: unknown) => isObject(value) || typeof value === "boolean";
  const wrong = inner.find((value) => !isSchema(value));
  return wrong === undefined ? null : `${JSON.stringify(wrong)} is not of type 'object', 'boolean'.`;
}

function strictFault(place: Place): string | null {
  const { schema, nesting } = place;
  const keyword = NOT_STRICT_KEYWORDS.find((each) => schema[each] !== undefined);
  if (keyword !== undefined) return `${contextOf(place)}, '${keyword}' is not permitted.`;
  if (nesting > 10 || (nesting === 10 && (hasType(schema, "object") || hasType(schema, "array")))) {
    return `${contextOf(place)}, schema exceeds the limit of 10 levels of nesting.`;
  }
  const { $ref, items, pattern, format } = schema;
  if ($ref !== undefined) {
    const others = Object.keys(schema).filter((name) => !name.startsWith("$"));
    if (others.length > 0) return `${contextOf(place)}, $ref cannot have keywords {'${others.join("', '")}'}.`;
    if (!/^#$|^#\/(?:\$defs|definitions)\/[^/]+$/.test(textOf($ref))) {
      return `${contextOf(place)}, reference can only point`;
    }
  }
  if (isObject(items) && !["type", "anyOf", "$ref", "enum", "const"].some((name) => items[name] !== undefined)) {
    return `${contextOf(place)}, schema must have a 'type' key.`;
  }
  if (/\(\?<?[=!]/.test(textOf(pattern))) return `${contextOf(place)}, lookaround is not supported in 'pattern'.`;
  const formats = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
  if (format !== undefined && !formats.includes(textOf(format))) {
    return `${contextOf(place)}, '${textOf(format)}' is not a valid format.`;
  }
  return null;
}

const TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"];
const PROPERTY = "^[a-zA-Z0-9_.-]{1,64}$";

/**
 * What Anthropic says about the schema of a tool. Source: the vendor's error messages: names are checked at the top
 * only.
 *
 * @returns Null if it is accepted.
 */
export function anthropicToolFault(schema: JsonObject): string | null {
  const names = Object.keys(objectOf(schema.properties) ?? {});
  if (names.some((name) => !new RegExp(PROPERTY).test(name))) return `Property keys should match pattern '${PROPERTY}'`;
  return firstFault(schema, ({ schema: each, steps }) => isDraft2020(each) ? null : draftMessage(steps));
}

function draftMessage(steps: readonly string[]): string {
  return "JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). " +
    `Learn more about tool use in the documentation. At: ${steps.join(".")}`;
}

/** Whatever draft `$schema` names: clients send that of draft 7. */
function isDraft2020(schema: JsonObject): boolean {
  const { type, required, items, exclusiveMinimum, exclusiveMaximum } = schema;
  if (typeof exclusiveMinimum === "boolean" || typeof exclusiveMaximum === "boolean" || Array.isArray(items)) {
    return false;
  }
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type];
  if (types.some((each) => !TYPES.includes(textOf(each)))) return false;
  return required === undefined || (Array.isArray(required) && new Set(required).size === required.length);
}

/**
 * What Anthropic and Bedrock say about a schema that they enforce. Source: Messages API reference, "Structured
 * outputs".
 *
 * @returns Null if it is accepted.
 */
export function enforcedFault(schema: JsonObject): string | null {
  if (isCircular(schema)) return "Circular reference detected in schema definitions";
  const refused =
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems uniqueItems";
  return firstFault(schema, ({ schema: each }) => {
    if (hasType(each, "object") && each.additionalProperties !== false) {
      return "For 'object' type, 'additionalProperties' must be explicitly set to false";
    }
    const keyword = refused.split(" ").find((name) => each[name] !== undefined);
    if (keyword !== undefined) return `For '${textOf(each.type)}' type, property '${keyword}' is not supported`;
    if (typeof each.minItems === "number" && each.minItems > 1) {
      return "'minItems' values other than 0 or 1 are not supported";
    }
    if (/\(\?<?[=!]/.test(textOf(each.pattern))) return "Lookaround assertions are not supported in 'pattern'";
    const isComplex = listOf(each.enum).some((value) => typeof value === "object" && value !== null);
    return isComplex ? "'enum' values must be strings, numbers, booleans or null" : null;
  });
}

/** What Anthropic says about all schemas together that one request has it enforce; null if they are accepted. */
export function complexityFault(schemas: readonly JsonObject[], tools: number): string | null {
  const places = schemas.flatMap((schema) => placesIn(schema));
  const optional = places.flatMap(({ schema }) => {
    const required = listOf(schema.required);
    return Object.keys(objectOf(schema.properties) ?? {}).filter((name) => !required.includes(name));
  });
  const unions = places.filter(({ schema }) => Array.isArray(schema.anyOf) || Array.isArray(schema.type));
  return tools > 20 || optional.length > 24 || unions.length > 16
    ? "Schema is too complex for compilation. Simplify your tool schemas or reduce the number of strict tools."
    : null;
}

/** Whether definitions of a schema refer to themselves. */
function isCircular(schema: JsonObject): boolean {
  return circularPlaces(schema).length > 0;
}

/** The references of a schema that lead back to the definition that they are in. */
function circularPlaces(schema: JsonObject): Place[] {
  const places = placesIn(schema).filter((place) => textOf(place.schema.$ref) !== "");
  const edges = new Map<string, string[]>();
  for (const { schema: each, definition } of places) {
    edges.set(definition, [...edges.get(definition) ?? [], textOf(each.$ref)]);
  }
  const leadsTo = (from: string, wanted: string, seen: Set<string>): boolean =>
    (edges.get(from) ?? []).some((next) => {
      if (next === wanted) return true;
      if (seen.has(next)) return false;
      return leadsTo(next, wanted, seen.add(next));
    });
  return places.filter(({ schema: each, definition }) => {
    const reference = textOf(each.$ref);
    return reference === definition || leadsTo(reference, definition, new Set());
  });
}

/**
 * What Gemini says about a JSON Schema. Source: Gemini API reference, `responseJsonSchema`; the vendor's error
 * messages.
 *
 * @param path Of the schema in the request.
 * @returns Null if it is accepted.
 */
export function geminiFault(schema: JsonObject, path: string): string | null {
  const cyclic = circularPlaces(schema).find((place) => place.isRequired);
  if (cyclic !== undefined) {
    return `${[path, ...cyclic.steps].join(".")}: cyclic references may only be used within non-required properties`;
  }
  return firstFault(schema, ({ schema: each, steps }) => {
    const at = [path, ...steps].join(".");
    if (each.$ref !== undefined && Object.keys(each).some((name) => !name.startsWith("$"))) {
      return `${at}: only fields starting with a '$' can be set beside '$ref'`;
    }
    if (textOf(each.$ref).startsWith("#/definitions/")) return `${at}: reference to undefined schema`;
    return enumerationFault(each, at);
  });
}

/** What Gemini says about an enumeration, in either type of schema; null if it is accepted. */
export function enumerationFault(schema: JsonObject, path: string): string | null {
  const values = listOf(schema.enum);
  const empty = values.findIndex((value) => value === "" || value === null);
  if (empty >= 0) return `${path}.enum[${empty}]: cannot be empty`;
  return values.every((value) => typeof value === "string" || typeof value === "number")
    ? null
    : `${path}.enum: only allowed for STRING type`;
}

/**
 * Whether a value has a member `$ref`, which Gemini reads as a reference to a part of a response, that names none.
 *
 * @param names The names of the parts.
 */
export function hasReference(value: unknown, names: readonly unknown[]): boolean {
  if (Array.isArray(value)) return value.some((each) => hasReference(each, names));
  if (!isObject(value)) return false;
  return ("$ref" in value && !names.includes(value.$ref)) ||
    Object.values(value).some((each) => hasReference(each, names));
}
