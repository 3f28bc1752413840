import type { JsonObject } from "../../../../lib/json_object.ts";
import { type BodyEdits, NO_EDITS } from "../../../body_edits.ts";
import type { PassThroughRequest } from "../../../pass_through.ts";
import { anthropicDialect } from "../../../schemas/anthropic_dialect.ts";
import { sentSchemaEdits, type SentSchemas, someObject } from "../../../schemas/sent_schemas.ts";
import { isObject, listOf } from "../../../wire_value.ts";

/** Keywords that the vendor refuses at the top of a tool's schema. */
const REFUSED_AT_TOP = ["anyOf", "oneOf", "allOf"];

const SCHEMAS: SentSchemas = {
  find: (body) =>
    listOf(body.tools).flatMap((owner, index) =>
      isObject(owner) ? [{ owner, path: ["tools", index], name: "input_schema", isTool: true }] : []
    ),
  mayBeRefused: (schema) => REFUSED_AT_TOP.some((name) => schema[name] !== undefined) || someObject(schema, isOld),
  dialect: anthropicDialect({ takesSchemas: false }),
};

/** Values that draft 2020-12 does not allow. Keywords that it does not have are ignored by the vendor. */
function isOld({ exclusiveMinimum, exclusiveMaximum, items, required }: JsonObject): boolean {
  return typeof exclusiveMinimum === "boolean" || typeof exclusiveMaximum === "boolean" || Array.isArray(items) ||
    typeof required === "boolean";
}

/** Edits the schemas of tools that Anthropic refuses. Those of compatible vendors stay. */
export function schemaEditsOf(request: PassThroughRequest): BodyEdits {
  return request.quirks.has("any_property_names") ? NO_EDITS : sentSchemaEdits(request, SCHEMAS);
}

/** The schema of a tool as Anthropic accepts it. */
export function acceptedSchema(schema: JsonObject): JsonObject {
  return SCHEMAS.mayBeRefused(schema) ? SCHEMAS.dialect.parameters(schema, false).schema : schema;
}
