import type { JsonEdit } from "../../../../lib/json_edits.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import { type BodyEdits, joinedEdits } from "../../../body_edits.ts";
import type { PassThroughRequest } from "../../../pass_through.ts";
import { CheckedTools } from "../../../schemas/checked_tools.ts";
import { geminiDialect } from "../../../schemas/gemini_dialect.ts";
import { FEATURES, featuresOf } from "../../../schemas/schema_features.ts";
import { type SentSchema, sentSchemaEdits, type SentSchemas } from "../../../schemas/sent_schemas.ts";
import { isObject, listOf, objectOf } from "../../../wire_value.ts";

const DECLARATIONS = ["functionDeclarations", "function_declarations"];
const PARAMETERS = ["parametersJsonSchema", "parameters_json_schema"];
const CONFIGS = ["generationConfig", "generation_config"];
const REPLIES = ["responseJsonSchema", "response_json_schema"];

/** What may be refused: members beside references, earlier structures, and some enumerations. */
const REFUSED = FEATURES.references | FEATURES.oldStructure | FEATURES.otherEnumerations;

const SCHEMAS: SentSchemas = {
  find: schemasIn,
  mayBeRefused: (schema) => (featuresOf(schema) & REFUSED) !== 0,
  dialect: geminiDialect({ isOpenApi: false }),
};

const CHECKED = new CheckedTools();

/** Edits the JSON Schemas that Gemini refuses, and removes declarations with a name that an earlier one has. */
export function schemaEditsOf(request: PassThroughRequest): BodyEdits {
  return CHECKED.editsOf(request, (searched) => {
    const repeated = repeatedDeclarations(searched.body);
    const schemas = sentSchemaEdits(searched, SCHEMAS);
    return repeated.length === 0 ? schemas : joinedEdits({ edits: repeated, droppedFields: ["tools"] }, schemas);
  });
}

/** A function declaration with its path. */
interface Declaration {
  readonly path: JsonEdit["path"];
  readonly owner: JsonObject;
}

function declarationsIn(body: JsonObject): Declaration[] {
  return listOf(body.tools).flatMap((tool, index) =>
    isObject(tool)
      ? DECLARATIONS.flatMap((name) =>
        listOf(tool[name]).flatMap((owner, at) => isObject(owner) ? [{ owner, path: ["tools", index, name, at] }] : [])
      )
      : []
  );
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
