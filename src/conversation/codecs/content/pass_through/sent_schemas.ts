import { editJson, type JsonEdit } from "../../../../platform/lib/json/json_edits.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { type BodyEdits, joinedEdits } from "../../../parts/request/body_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { CheckedTools } from "../../../schemas/checked_tools.ts";
import { geminiDialect } from "../../../schemas/gemini_dialect.ts";
import { FEATURES, featuresOf } from "../../../schemas/schema_features.ts";
import { type SentSchema, sentSchemaEdits, type SentSchemas } from "../../../schemas/sent_schemas.ts";
import { objectOf } from "../../../neutral/wire_value.ts";
import { ownSchemaEditsOf } from "./own_schemas.ts";
import { CONFIGS, declarationsIn } from "./schema_places.ts";

const PARAMETERS = ["parametersJsonSchema", "parameters_json_schema"];
const REPLIES = ["responseJsonSchema", "response_json_schema"];

/** What may be refused: members beside references, earlier structures, and some enumerations. */
const REFUSED = FEATURES.references | FEATURES.oldStructure | FEATURES.otherEnumerations;

const SCHEMAS: SentSchemas = {
  find: schemasIn,
  mayBeRefused: (schema) => (featuresOf(schema) & REFUSED) !== 0,
  dialect: geminiDialect({ isOpenApi: false }),
};

const CHECKED = new CheckedTools();

/** Edits the schemas that Gemini refuses, and removes declarations with a name that an earlier one has. */
export function schemaEditsOf(request: PassThroughRequest): BodyEdits {
  return CHECKED.editsOf(request, editsIn);
}

/** The same for a content to be cached: what is sent, and the neutral names of what it leaves out. */
export function withAcceptedSchemas(
  content: JsonObject,
  target: Pick<PassThroughRequest, "facts" | "quirks">,
): { readonly content: JsonObject; readonly droppedFields: readonly string[] } {
  const { edits, droppedFields } = editsIn({ ...target, body: content, wholeBody: () => content });
  if (edits.length === 0) return { content, droppedFields };
  const bytes = editJson(new TextEncoder().encode(JSON.stringify(content)), edits);
  return { content: JSON.parse(new TextDecoder().decode(bytes)), droppedFields };
}

function editsIn(searched: Pick<PassThroughRequest, "body" | "wholeBody" | "facts" | "quirks">): BodyEdits {
  const repeated = repeatedDeclarations(searched.body);
  const schemas = joinedEdits(sentSchemaEdits(searched, SCHEMAS), ownSchemaEditsOf(searched));
  return repeated.length === 0 ? schemas : joinedEdits({ edits: repeated, droppedFields: ["tools"] }, schemas);
}

function repeatedDeclarations(body: JsonObject): JsonEdit[] {
  const names = new Set<unknown>();
  return declarationsIn(body).flatMap(({ owner, path }): JsonEdit[] => {
    const isRepeated = typeof owner.name === "string" && names.has(owner.name);
    names.add(owner.name);
    return isRepeated ? [{ path, value: undefined }] : [];
  });
}

function schemasIn(body: JsonObject): SentSchema[] {
  const parameters = declarationsIn(body).flatMap(({ owner, path }) =>
    PARAMETERS.map((name) => ({ owner, path, name, isTool: true }))
  );
  const replies = CONFIGS.flatMap((config) => {
    const owner = objectOf(body[config]);
    return owner === null ? [] : REPLIES.map((name) => ({ owner, path: [config], name, isTool: false }));
  });
  return [...parameters, ...replies];
}
