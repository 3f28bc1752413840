import type { JsonSchema } from "../neutral/conversation.ts";
import { listOf, objectOf, objectsOf } from "../neutral/wire_value.ts";
import { targetOf } from "./schema_references.ts";

/** Keywords that combine several schemas. */
export const COMBINATIONS = ["anyOf", "oneOf", "allOf"] as const;
/** Maximum depth of the walk: references and combinations can nest without end. */
const MAX_DEPTH = 16;
/** Minimum number of shapes, properties and required names to read: references can multiply them at every step. */
const MIN_PARTS = 500;

/** Whether a tool's schema is an object at the top, with `properties` or a reference. */
export function isObjectSchema({ type, properties, $ref }: JsonSchema): boolean {
  return type === "object" && (objectOf(properties) !== null || $ref !== undefined);
}

/** A tool's schema in the form that every vendor accepts: an object at the top, with `properties` even if empty. */
export function objectSchema(schema: JsonSchema | null): JsonSchema {
  if (schema !== null && isObjectSchema(schema)) return schema;
  return { ...schema, type: "object", properties: objectOf(schema?.properties) ?? {} };
}

/** A schema without combinations at the top. */
export interface PlainSchema {
  /** An object at the top level. */
  readonly schema: JsonSchema;
  /** True when it accepts more than the original schema. */
  readonly isRelaxed: boolean;
}

/**
 * Simplifies a tool's schema for vendors that accept no `anyOf`, `oneOf` or `allOf` at the top. These become one object
 * with the properties of all alternatives; it requires what every alternative requires.
 *
 * @param refused Other keywords that the vendor rejects at the top; they are removed.
 */
export function plainSchema(schema: JsonSchema | null, refused: readonly string[] = []): PlainSchema {
  if (schema === null) return { schema: objectSchema(null), isRelaxed: false };
  const removed = [...COMBINATIONS, ...refused].filter((keyword) => schema[keyword] !== undefined);
  const isRelaxed = removed.length > 0 || !mayBeObject(schema);
  if (removed.length === 0) return { schema: objectSchema(schema), isRelaxed };
  const { properties, required } = shapeOf(schema, budgetFor(schema), 0);
  const { required: _, ...kept } = schema;
  const rest = Object.fromEntries(Object.entries(kept).filter(([keyword]) => !removed.includes(keyword)));
  const requiredField = required.size > 0 ? { required: [...required] } : {};
  return {
    schema: { ...rest, type: "object", properties: Object.fromEntries(properties), ...requiredField },
    isRelaxed,
  };
}

function mayBeObject({ type }: JsonSchema): boolean {
  return type === undefined || type === "object" || listOf(type).includes("object");
}

/** The properties and required names of an object schema. */
interface Shape {
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<unknown>;
}

/** How much of a schema may still be read. The rest is left out, which makes the result less strict. */
interface Budget {
  readonly root: JsonSchema;
  parts: number;
  /** Of properties that are compared. */
  characters: number;
}

/** The budget grows with the schema's length, so that many small schemas cost no more than one large one. */
function budgetFor(root: JsonSchema): Budget {
  const { length } = JSON.stringify(root);
  return { root, parts: MIN_PARTS + length, characters: 8 * (MIN_PARTS + length) };
}

function shapeOf(schema: JsonSchema, budget: Budget, depth: number): Shape {
  const own = Object.entries(objectOf(schema.properties) ?? {});
  budget.parts -= 1 + own.length + listOf(schema.required).length;
  if (depth > MAX_DEPTH || budget.parts < 0) return { properties: new Map(), required: new Set() };
  const inner = (shapes: unknown) =>
    objectsOf(shapes).filter(mayBeObject).map((one) => shapeOf(one, budget, depth + 1));
  const target = typeof schema.$ref === "string" ? targetOf(budget.root, schema.$ref) : null;
  const whole = [
    ...(target === null ? [] : [shapeOf(target, budget, depth + 1)]),
    ...inner(schema.allOf),
    eitherOf(inner(schema.anyOf), budget),
    eitherOf(inner(schema.oneOf), budget),
    { properties: new Map(own), required: new Set(listOf(schema.required)) },
  ];
  return {
    properties: new Map(whole.flatMap(({ properties }) => [...properties])),
    required: new Set(whole.flatMap(({ required }) => [...required])),
  };
}

/** Replaces the text of a property once the budget for comparing properties is used up. */
const ANYTHING = "";

/** A property with different schemas in several shapes may match any of them. */
function eitherOf(shapes: readonly Shape[], budget: Budget): Shape {
  const described = new Map<string, Map<string, unknown>>();
  for (const { properties } of shapes) {
    for (const [name, schema] of properties) {
      const known = described.get(name) ?? new Map<string, unknown>();
      described.set(name, known);
      if (budget.characters <= 0) known.set(ANYTHING, {});
      else if (!known.has(ANYTHING)) {
        const text = JSON.stringify(schema);
        budget.characters -= text.length;
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
