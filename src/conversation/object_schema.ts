import type { JsonSchema } from "./conversation.ts";
import { isObject, listOf, objectOf, objectsOf, textOf } from "./wire_value.ts";

/** Keywords by which a schema is a choice between shapes, or a sum of them. */
const CHOICES = ["anyOf", "oneOf", "allOf"] as const;
/** References and choices nest; a walk must end. */
const DEEPEST = 16;
/** Shapes, properties and demands that are read of any schema; references can multiply them at every step. */
const MIN_PARTS = 500;

/** A tool's schema as every vendor wants it: an object at the top, with properties if only none. */
export function objectSchema(schema: JsonSchema | null): JsonSchema {
  if (schema?.type === "object" && (objectOf(schema.properties) || schema.$ref !== undefined)) return schema;
  return { ...schema, type: "object", properties: objectOf(schema?.properties) ?? {} };
}

/** A schema whose top was made plain. */
export interface PlainSchema {
  /** An object at the top. */
  readonly schema: JsonSchema;
  /** True where it says less than the one it was made from. */
  readonly isLoose: boolean;
}

/**
 * A tool's schema for vendors that take no choice at the top: the choice becomes one object that has the properties of
 * all shapes and demands what all of them demand.
 *
 * @param refused Other keywords that the vendor refuses there; they are left out.
 */
export function plainSchema(schema: JsonSchema | null, refused: readonly string[] = []): PlainSchema {
  if (schema === null) return { schema: objectSchema(null), isLoose: false };
  const unwanted = [...CHOICES, ...refused].filter((keyword) => schema[keyword] !== undefined);
  const isLoose = unwanted.length > 0 || !mayBeObject(schema);
  if (unwanted.length === 0) return { schema: objectSchema(schema), isLoose };
  const { properties, required } = shapeOf(schema, readingOf(schema), 0);
  const { required: _, ...kept } = schema;
  const rest = Object.fromEntries(Object.entries(kept).filter(([keyword]) => !unwanted.includes(keyword)));
  const demanded = required.size > 0 ? { required: [...required] } : {};
  return { schema: { ...rest, type: "object", properties: Object.fromEntries(properties), ...demanded }, isLoose };
}

/** What the authors of the default protocol's forms refuse at the top of a function's parameters, beside choices. */
const REFUSED_IN_FUNCTIONS = ["enum", "not"];

/**
 * The parameters of a function as the default protocol's author takes them.
 * Source: Function calling guide, "Function tool definitions"; the vendor's error messages.
 */
export function functionSchema(schema: JsonSchema | null): PlainSchema {
  return plainSchema(schema, REFUSED_IN_FUNCTIONS);
}

function mayBeObject({ type }: JsonSchema): boolean {
  return type === undefined || type === "object" || listOf(type).includes("object");
}

/** What an object of a schema may and must have. */
interface Shape {
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<unknown>;
}

/**
 * The schema that is read, and how much of it still may be. What is beyond is left out, so that the result says less.
 */
interface Reading {
  readonly root: JsonSchema;
  parts: number;
  /** Of properties that are compared. */
  characters: number;
}

/** What is read of a schema grows with its own length, so that many small ones cost no more than a large one. */
function readingOf(root: JsonSchema): Reading {
  const { length } = JSON.stringify(root);
  return { root, parts: MIN_PARTS + length, characters: 8 * (MIN_PARTS + length) };
}

function shapeOf(schema: JsonSchema, reading: Reading, depth: number): Shape {
  const own = Object.entries(objectOf(schema.properties) ?? {});
  reading.parts -= 1 + own.length + listOf(schema.required).length;
  if (depth > DEEPEST || reading.parts < 0) return { properties: new Map(), required: new Set() };
  const inner = (shapes: unknown) =>
    objectsOf(shapes).filter(mayBeObject).map((one) => shapeOf(one, reading, depth + 1));
  const target = targetOf(schema, reading.root);
  const whole = [
    ...(target === null ? [] : [shapeOf(target, reading, depth + 1)]),
    ...inner(schema.allOf),
    eitherOf(inner(schema.anyOf), reading),
    eitherOf(inner(schema.oneOf), reading),
    { properties: new Map(own), required: new Set(listOf(schema.required)) },
  ];
  return {
    properties: new Map(whole.flatMap(({ properties }) => [...properties])),
    required: new Set(whole.flatMap(({ required }) => [...required])),
  };
}

/** Stands for the text of a property that is not compared any more. */
const ANYTHING = "";

/** A property that the shapes describe differently may be as any of them says. */
function eitherOf(shapes: readonly Shape[], reading: Reading): Shape {
  const described = new Map<string, Map<string, unknown>>();
  for (const { properties } of shapes) {
    for (const [name, schema] of properties) {
      const known = described.get(name) ?? new Map<string, unknown>();
      described.set(name, known);
      if (reading.characters <= 0) known.set(ANYTHING, {});
      else if (!known.has(ANYTHING)) {
        const text = JSON.stringify(schema);
        reading.characters -= text.length;
        known.set(text, schema);
      }
    }
  }
  const properties = [...described].map(([name, schemas]): [string, unknown] => {
    if (schemas.has(ANYTHING)) return [name, {}];
    const different = [...schemas.values()];
    return [name, different.length === 1 ? different[0] : { anyOf: different }];
  });
  const [first, ...others] = shapes.map(({ required }) => required);
  const required = [...first ?? []].filter((name) => others.every((names) => names.has(name)));
  return { properties: new Map(properties), required: new Set(required) };
}

/** The definition that a schema refers to in its own document, if any. */
function targetOf({ $ref }: JsonSchema, root: JsonSchema): JsonSchema | null {
  const [, group, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(textOf($ref)) ?? [];
  const definitions = group === undefined ? null : objectOf(root[group]);
  const target = definitions !== null && Object.hasOwn(definitions, name!) ? definitions[name!] : null;
  return isObject(target) ? target : null;
}
