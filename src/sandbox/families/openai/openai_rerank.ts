import { bodyOf, type Call, isMissingModel, jsonResponse } from "../../call.ts";
import { followDirectives } from "../../pictures/make.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { tokensOf } from "../../tokens.ts";
import { similarityOf } from "../../vectors.ts";
import { badParameter, checkPresent, checkRange } from "./openai_fields.ts";
import { failureMessage } from "./openai_messages.ts";

const FIELDS: ReadonlySet<string> = new Set([
  "model",
  "query",
  "documents",
  "top_n",
  "user",
  "truncate",
  "max_tokens_per_doc",
]);
const MAX_DOCUMENTS = 1_000;
const DOCUMENTS_PER_UNIT = 100;

/** `POST /v1/rerank`, in the format of OpenRouter, Jina and vLLM, with what Cohere adds. */
export async function rankDocuments(call: Call): Promise<Response> {
  const body = bodyOf(call, "We could not parse the JSON body of your request.");
  const unknown = Object.keys(body).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) throw badParameter(unknown, `Unknown parameter: '${unknown}'.`, "unknown_parameter");
  for (const name of ["model", "query", "documents"]) checkPresent(body, name);
  const { documents } = body;
  if (!Array.isArray(documents) || documents.length === 0 || !documents.every((each) => typeof each === "string")) {
    throw badParameter("documents", "'$.documents' is invalid.");
  }
  checkRange(body, "top_n", 1, MAX_DOCUMENTS);
  const model = String(body.model);
  if (isMissingModel(model)) {
    throw new SimulatedError(404, `The model \`${model}\` does not exist.`, { code: "model_not_found" });
  }
  const query = String(body.query);
  const directives = await followDirectives(call, query, "openai", failureMessage);
  if (directives instanceof Response) return directives;
  const results = documents
    .map((document, index) => ({ index, relevance_score: similarityOf(directives.text, document) }))
    .sort((one, other) => other.relevance_score - one.relevance_score)
    .slice(0, Number(body.top_n ?? documents.length));
  const total_tokens = documents.reduce((sum, document) => sum + tokensOf(query) + tokensOf(document), 0);
  const search_units = Math.ceil(documents.length / DOCUMENTS_PER_UNIT);
  const usage = directives.noUsage ? {} : { usage: { total_tokens, search_units } };
  return jsonResponse({ id: call.requestId, model, results, ...usage }, { "x-request-id": call.requestId });
}
