import type { JsonSchema } from "../../conversation.ts";
import { listOf, objectOf } from "./fields.ts";

/** Keywords that must not stand at the top of a function's parameters. */
const CHOICES = ["anyOf", "oneOf", "allOf"] as const;
/** Keywords that a strict schema may not use. Source: Structured outputs guide, "Supported schemas". */
const LOOSE = ["oneOf", "allOf", "not", "if", "then", "else", "patternProperties", "dependentSchemas", "prefixItems"];
const DEEPEST = 64;

/** A tool's schema as every vendor wants it: an object at the top, with properties if only none. */
export function objectSchema(schema: JsonSchema): JsonSchema {
  if (schema.type === "object" && (objectOf(schema.properties) || schema.$ref !== undefined)) return schema;
  return { ...schema, type: "object", properties: objectOf(schema.properties) ?? {} };
}

/** Whether the top of a schema is a choice between shapes, which the form's author refuses. */
export function isChoice(schema: JsonSchema): boolean {
  return CHOICES.some((keyword) => schema[keyword] !== undefined);
}

/** A choice folded into one object that has the properties of all shapes and demands none of theirs. */
export function foldedSchema(schema: JsonSchema): JsonSchema {
  const chosen = CHOICES.flatMap((keyword) => listOf(schema[keyword]).map(objectOf));
  const { anyOf: _anyOf, oneOf: _oneOf, allOf: _allOf, ...rest } = schema;
  const properties = Object.assign(
    {},
    ...chosen.map((shape) => objectOf(shape?.properties)),
    objectOf(rest.properties),
  );
  return { ...rest, type: "object", properties };
}

/** Whether the author would take the schema as strict: every object closed, every property required. */
export function isStrictSchema(schema: unknown, depth = 0): boolean {
  const shape = objectOf(schema);
  if (!shape || depth > DEEPEST || LOOSE.some((keyword) => keyword in shape)) return false;
  const properties = objectOf(shape.properties);
  if (shape.type === "object" || properties) {
    const required = listOf(shape.required);
    if (shape.additionalProperties !== false) return false;
    if (!Object.keys(properties ?? {}).every((name) => required.includes(name))) return false;
  }
  return partsOf(shape).every((part) => isStrictSchema(part, depth + 1));
}

function partsOf(shape: JsonSchema): unknown[] {
  const named = [shape.properties, shape.$defs, shape.definitions].flatMap((group) =>
    Object.values(objectOf(group) ?? {})
  );
  return [...named, ...listOf(shape.anyOf), ...(shape.items === undefined ? [] : [shape.items])];
}
