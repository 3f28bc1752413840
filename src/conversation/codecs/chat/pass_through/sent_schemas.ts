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

function schemasIn({ tools, functions, response_format: format }: JsonObject): SentSchema[] {
  const offered = listOf(tools).flatMap((tool, index) => {
    const owner = isObject(tool) ? objectOf(tool.function) : null;
    return owner === null ? [] : [{ owner, path: ["tools", index, "function"] }];
  });
  const older = listOf(functions).flatMap((owner, index) =>
    isObject(owner) ? [{ owner, path: ["functions", index] }] : []
  );
  const parameters = [...offered, ...older].map((each) => ({ ...each, name: "parameters", isTool: true }));
  const reply = isObject(format) ? objectOf(format.json_schema) : null;
  if (reply === null) return parameters;
  return [...parameters, { owner: reply, path: ["response_format", "json_schema"], name: "schema", isTool: false }];
}
