import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { BodyEdits } from "../../../parts/request/body_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { CheckedTools } from "../../../schemas/checked_tools.ts";
import { openAiSchemaEdits } from "../../../schemas/openai_sent_schemas.ts";
import type { SentSchema } from "../../../schemas/sent_schemas.ts";
import { isObject, listOf, objectOf } from "../../../neutral/wire_value.ts";

const CHECKED = new CheckedTools();

/** Edits the schemas of functions and of the reply that OpenAI refuses. */
export function schemaEditsOf(request: PassThroughRequest): BodyEdits {
  return openAiSchemaEdits(request, schemasIn, CHECKED);
}

function schemasIn({ tools, text }: JsonObject): SentSchema[] {
  const parameters = functionsIn(tools, ["tools"]);
  const format = isObject(text) ? objectOf(text.format) : null;
  if (format === null) return parameters;
  return [...parameters, { owner: format, path: ["text", "format"], name: "schema", isTool: false }];
}

/** The functions of a list of tools, and those in its namespaces. */
function functionsIn(tools: unknown, path: readonly (string | number)[]): SentSchema[] {
  return listOf(tools).flatMap((owner, index): SentSchema[] => {
    if (!isObject(owner)) return [];
    if (owner.type === "namespace") return functionsIn(owner.tools, [...path, index, "tools"]);
    return owner.type === "function" ? [{ owner, path: [...path, index], name: "parameters", isTool: true }] : [];
  });
}
