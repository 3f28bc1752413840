import type { JsonObject } from "../../lib/json_object.ts";
import { type BodyEdits, NO_EDITS } from "../body_edits.ts";
import type { PassThroughRequest } from "../pass_through.ts";
import { listOf } from "../wire_value.ts";
import { openAiDialect } from "./openai_dialect.ts";
import { type SentSchema, sentSchemaEdits, someObject } from "./sent_schemas.ts";

const DIALECT = openAiDialect({ takesUnions: false });

/** Keywords that OpenAI refuses at the top of a tool's schema. */
const REFUSED_AT_TOP = ["anyOf", "oneOf", "allOf", "enum", "not"];

/**
 * Edits the schemas of a request in a format of OpenAI that OpenAI refuses. Compatible vendors accept more.
 *
 * @param find The schemas of a request.
 */
export function openAiSchemaEdits(
  request: PassThroughRequest,
  find: (body: JsonObject) => readonly SentSchema[],
): BodyEdits {
  if (request.quirks.has("union_schemas")) return NO_EDITS;
  return sentSchemaEdits(request, { find, mayBeRefused, dialect: DIALECT });
}

function mayBeRefused(schema: JsonObject): boolean {
  return REFUSED_AT_TOP.some((name) => schema[name] !== undefined) || someObject(schema, lacksItems);
}

function lacksItems({ type, items, prefixItems }: JsonObject): boolean {
  return (type === "array" || listOf(type).includes("array")) && items === undefined && prefixItems === undefined;
}
