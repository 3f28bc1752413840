import type { JsonSchema } from "../../conversation.ts";
import { listOf, objectOf } from "../../wire_value.ts";

/** Keywords that must not stand at the top of a function's parameters. */
const CHOICES = ["anyOf", "oneOf", "allOf"] as const;

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
