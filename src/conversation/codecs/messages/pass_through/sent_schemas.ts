import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { BodyEdits } from "../../../parts/request/body_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { anthropicDialect } from "../../../schemas/anthropic_dialect.ts";
import { COMBINATIONS } from "../../../schemas/object_schema.ts";
import { FEATURES, featuresOf } from "../../../schemas/schema_features.ts";
import { sentSchemaEdits, type SentSchemas } from "../../../schemas/sent_schemas.ts";
import { isObject, listOf } from "../../../neutral/wire_value.ts";

const SCHEMAS: SentSchemas = {
  // Enforced schemas have other rules.
  find: (body) =>
    listOf(body.tools).flatMap((owner, index) =>
      isObject(owner) && owner.strict !== true
        ? [{ owner, path: ["tools", index], name: "input_schema", isTool: true }]
        : []
    ),
  // The vendor refuses combinations at the top of a tool's schema, and ignores keywords that draft 2020-12 lacks.
  mayBeRefused: (schema) =>
    COMBINATIONS.some((name) => schema[name] !== undefined) ||
    (featuresOf(schema) & FEATURES.refusedValues) !== 0,
  dialect: anthropicDialect({ takesSchemas: false }),
};

/** Edits the schemas of tools that Anthropic refuses. */
export function schemaEditsOf(request: PassThroughRequest): BodyEdits {
  return sentSchemaEdits(request, SCHEMAS);
}

/** The schema of a tool as Anthropic accepts it, and enforces it if `isEnforced`. */
export function acceptedSchema(schema: JsonObject, isEnforced: boolean): JsonObject {
  if (isEnforced) return anthropicDialect({ takesSchemas: true }).parameters(schema, true).schema;
  return SCHEMAS.mayBeRefused(schema, true) ? SCHEMAS.dialect.parameters(schema, false).schema : schema;
}
