import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { type BodyEdits, NO_EDITS } from "../parts/request/body_edits.ts";
import type { PassThroughRequest } from "../contract/pass_through.ts";
import type { CheckedTools } from "./checked_tools.ts";
import { COMBINATIONS, isObjectSchema } from "./object_schema.ts";
import { hasRefusedValues, openAiDialect, REFUSED_BESIDE_COMBINATIONS } from "./openai_dialect.ts";
import { FEATURES, featuresOf } from "./schema_features.ts";
import { type SentSchema, sentSchemaEdits } from "./sent_schemas.ts";

const DIALECT = openAiDialect({ takesUnions: false });
const UNION_DIALECT = openAiDialect({ takesUnions: true });

/** Keywords that OpenAI refuses at the top of a tool's schema. */
const REFUSED_AT_TOP = [...COMBINATIONS, ...REFUSED_BESIDE_COMBINATIONS];

/**
 * Edits the schemas of a request in a format of OpenAI that OpenAI refuses. Compatible vendors accept more; Mistral
 * validates them, too.
 *
 * @param find The schemas of a request.
 * @param checked The tools that need no change in this format.
 */
export function openAiSchemaEdits(
  request: PassThroughRequest,
  find: (body: JsonObject) => readonly SentSchema[],
  checked: CheckedTools,
): BodyEdits {
  if (request.quirks.has("union_schemas")) {
    return request.quirks.has("mistral_fields")
      ? sentSchemaEdits(request, { find, mayBeRefused: hasRefusedValues, dialect: UNION_DIALECT })
      : NO_EDITS;
  }
  return checked.editsOf(request, (searched) => sentSchemaEdits(searched, { find, mayBeRefused, dialect: DIALECT }));
}

function mayBeRefused(schema: JsonObject, isTool: boolean): boolean {
  return (isTool && !isObjectSchema(schema)) || REFUSED_AT_TOP.some((name) => schema[name] !== undefined) ||
    (featuresOf(schema) & FEATURES.arrayWithoutItems) !== 0 || hasRefusedValues(schema);
}
