/**
 * Checks values against the JSON Schemas of the description of the interface. The schemas are read as they are: to
 * compile one takes longer than a test that needs it once. `tests/openapi/schema_check_test.ts` compares it with a
 * validator that implements the whole standard.
 */

/** A schema of JSON Schema 2020-12, with the keywords that the description uses. */
type Schema = boolean | { readonly [keyword: string]: unknown };

/** A document with schemas, and the problems that were found in a value. */
interface Check {
  readonly document: unknown;
  readonly problems: string[];
}

/** Where a value is in the body, as a JSON pointer. */
type Path = string;

/**
 * What is wrong with a value, as `PLACE MESSAGE DETAILS`; empty if nothing is. Fields that are not described are faults
 * here, though a client must expect them. Formats are not checked.
 *
 * @param document The document, within which references lead.
 * @param pointer The place of the schema in the document, as a JSON pointer.
 * @throws {Error} If a schema has a keyword that is unknown here.
 */
export function schemaProblems(value: unknown, document: unknown, pointer: string): string[] {
  const check = { document, problems: [] };
  return fits(value, valueAt(document, pointer) as Schema, "", check) ? [] : check.problems;
}

/** The value at a JSON pointer of a document. */
export function valueAt(document: unknown, pointer: string): unknown {
  return pointer.split("/").slice(1).reduce(
    (value, part) => (value as Record<string, unknown>)[part.replaceAll("~1", "/").replaceAll("~0", "~")],
    document,
  );
}

/** Stops at the first keyword that does not fit, in the order of the keywords here. */
function fits(value: unknown, schema: Schema, path: Path, check: Check): boolean {
  if (schema === true) return true;
  if (schema === false) return fails(check, path, "must not be present", {});
  if (schema.type !== undefined && !typesOf(schema).some((type) => isOfType(value, type))) {
    return fails(check, path, `must be ${typesOf(schema).join()}`, { type: schema.type });
  }
  for (const keyword of Object.keys(schema)) {
    if (!KEYWORDS.has(keyword)) throw new Error(`The keyword ${keyword} of a schema is unknown`);
  }
  return fitsScalar(value, schema, path, check) && fitsAlternatives(value, schema, path, check) &&
    (!Array.isArray(value) || fitsArray(value, schema, path, check)) &&
    (!isObject(value) || fitsObject(value, schema, path, check));
}

const KEYWORDS: ReadonlySet<string> = new Set([
  ...["$ref", "type", "const", "enum", "not", "anyOf", "allOf"],
  ...["minimum", "maximum", "minLength", "maxLength", "pattern", "minItems", "maxItems", "items"],
  ...["required", "properties", "additionalProperties", "propertyNames"],
  ...["description", "examples", "default", "format"],
]);

type Keywords = Exclude<Schema, boolean>;

function fitsScalar(value: unknown, schema: Keywords, path: Path, check: Check): boolean {
  const { minimum, maximum, minLength, maxLength, pattern } = schema;
  if (typeof value === "number") {
    if (typeof minimum === "number" && value < minimum) return fails(check, path, `must be >= ${minimum}`, {});
    if (typeof maximum === "number" && value > maximum) return fails(check, path, `must be <= ${maximum}`, {});
  }
  if (typeof value === "string") {
    const length = [...value].length;
    if (typeof minLength === "number" && length < minLength) return fails(check, path, "is too short", { minLength });
    if (typeof maxLength === "number" && length > maxLength) return fails(check, path, "is too long", { maxLength });
    if (typeof pattern === "string" && !new RegExp(pattern, "u").test(value)) {
      return fails(check, path, "must match the pattern", { pattern });
    }
  }
  return true;
}

function fitsAlternatives(value: unknown, schema: Keywords, path: Path, check: Check): boolean {
  const { $ref, const: only, enum: values, not, anyOf, allOf } = schema;
  if (typeof $ref === "string" && !fits(value, valueAt(check.document, $ref.slice(1)) as Schema, path, check)) {
    return false;
  }
  if (not !== undefined && fits(value, not as Schema, path, { ...check, problems: [] })) {
    return fails(check, path, "must not be valid", {});
  }
  if (Array.isArray(anyOf)) {
    const before = check.problems.length;
    if (!anyOf.some((each: Schema) => fits(value, each, path, check))) {
      return fails(check, path, "must match a schema in anyOf", {});
    }
    check.problems.length = before;
  }
  if (Object.hasOwn(schema, "const") && !isSame(value, only)) {
    return fails(check, path, "must be equal to constant", { allowedValue: only });
  }
  if (Array.isArray(values) && !values.some((each) => isSame(value, each))) {
    return fails(check, path, "must be equal to one of the allowed values", { allowedValues: values });
  }
  return !Array.isArray(allOf) || allOf.every((each: Schema) => fits(value, each, path, check));
}

function fitsArray(value: readonly unknown[], schema: Keywords, path: Path, check: Check): boolean {
  const { minItems, maxItems, items } = schema;
  if (typeof minItems === "number" && value.length < minItems) return fails(check, path, "has too few", { minItems });
  if (typeof maxItems === "number" && value.length > maxItems) return fails(check, path, "has too many", { maxItems });
  return items === undefined || value.every((item, index) => fits(item, items as Schema, `${path}/${index}`, check));
}

function fitsObject(value: Record<string, unknown>, schema: Keywords, path: Path, check: Check): boolean {
  const { required = [], propertyNames } = schema;
  const properties = (schema.properties ?? {}) as Record<string, Schema>;
  const missing = (required as readonly string[]).find((name) => value[name] === undefined);
  if (missing !== undefined) return fails(check, path, "must have a property", { missingProperty: missing });
  const isClosed = schema.type === "object" && schema.properties !== undefined;
  const additional = (schema.additionalProperties ?? !isClosed) as Schema;
  for (const [name, each] of Object.entries(value)) {
    const place = `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (propertyNames !== undefined && !fits(name, propertyNames as Schema, path, check)) return false;
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (own === undefined && additional === false) {
      return fails(check, path, "must NOT have additional properties", { additionalProperty: name });
    }
    if (!fits(each, own ?? additional, place, check)) return false;
  }
  return true;
}

function fails({ problems }: Check, path: Path, message: string, details: object): false {
  problems.push(`${path || "body"} ${message} ${JSON.stringify(details)}`);
  return false;
}

function typesOf({ type }: Keywords): string[] {
  return [type].flat().map(String);
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type && (typeof value !== "number" || Number.isFinite(value));
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether two values of JSON are the same. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((each, index) => isSame(each, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]));
}
