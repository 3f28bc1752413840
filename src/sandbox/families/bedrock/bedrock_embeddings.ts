import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { bodyOf, type Call, jsonResponse } from "../../call.ts";
import { followDirectives } from "../../pictures/make.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { tokensOf } from "../../tokens.ts";
import { SANDBOX_DIMENSIONS, vectorOf } from "../../vectors.ts";

const UNREADABLE = "Malformed input request, please reformat your input and try again.";
const INPUT_TYPES = ["search_document", "search_query", "classification", "clustering"];
const MAX_TEXTS = 96;
const TITAN_DIMENSIONS = [256, 512, 1024];
const COHERE_DIMENSIONS = [256, 512, 1024, 1536];

/** Whether a model makes embeddings. */
export function isEmbeddingModel(model: string): boolean {
  return /titan-embed|cohere\.embed/.test(model);
}

/**
 * `InvokeModel` of Titan and Cohere. Source: Amazon Bedrock User Guide, "Amazon Titan Text Embeddings", "Cohere Embed".
 */
export function embed(call: Call, model: string): Promise<Response> {
  const body = bodyOf(call, UNREADABLE);
  return model.includes("titan") ? titan(call, body) : cohere(call, body, model);
}

async function titan(call: Call, body: JsonObject): Promise<Response> {
  checkFields(body, ["inputText", "dimensions", "normalize", "embeddingTypes"]);
  const { inputText, dimensions = SANDBOX_DIMENSIONS } = body;
  if (typeof inputText !== "string" || inputText === "") throw invalid("expected minLength: 1, actual: 0");
  if (!TITAN_DIMENSIONS.includes(Number(dimensions))) throw invalid("#/dimensions: is not a valid enum value");
  return await answer(call, [inputText], ([text = ""], tokens) => {
    const embedding = vectorOf(text, Number(dimensions));
    return { embedding, embeddingsByType: { float: embedding }, ...tokens !== null && { inputTextTokenCount: tokens } };
  });
}

async function cohere(call: Call, body: JsonObject, model: string): Promise<Response> {
  const isLater = /embed-v[4-9]/.test(model);
  const fields = ["texts", "input_type", "embedding_types", "truncate"];
  checkFields(body, isLater ? [...fields, "output_dimension", "max_tokens"] : fields);
  const { texts, input_type: type, embedding_types: types, output_dimension: dimensions = SANDBOX_DIMENSIONS } = body;
  const isFit = Array.isArray(texts) && texts.length > 0 && texts.every((text) => typeof text === "string");
  if (!isFit || texts.length > MAX_TEXTS) throw invalid(`#/texts: expected 1 to ${MAX_TEXTS} items`);
  if (!INPUT_TYPES.includes(String(type))) throw invalid("#/input_type: is not a valid enum value");
  if (!COHERE_DIMENSIONS.includes(Number(dimensions))) throw invalid("#/output_dimension: is not a valid enum value");
  return await answer(call, texts.map(String), (all) => {
    const embeddings = all.map((text) => vectorOf(text, Number(dimensions)));
    const isByType = Array.isArray(types);
    return {
      id: call.requestId,
      texts: all,
      response_type: isByType ? "embeddings_by_type" : "embeddings_floats",
      embeddings: isByType ? { float: embeddings } : embeddings,
    };
  });
}

/** The number of tokens is in a header field, too. */
async function answer(
  call: Call,
  texts: readonly string[],
  write: (texts: readonly string[], tokens: number | null) => JsonObject,
): Promise<Response> {
  const directives = await followDirectives(call, texts.join("\n"), "bedrock", () => "The model is not ready.");
  if (directives instanceof Response) return directives;
  const tokens = directives.noUsage ? null : texts.reduce((sum, text) => sum + Math.max(1, tokensOf(text)), 0);
  return jsonResponse(write(texts, tokens), {
    "x-amzn-requestid": call.requestId,
    ...tokens !== null && { "x-amzn-bedrock-input-token-count": String(tokens) },
  });
}

function checkFields(body: JsonObject, known: readonly string[]): void {
  const extra = Object.keys(body).find((name) => !known.includes(name));
  if (extra !== undefined) throw invalid(`extraneous key [${extra}] is not permitted`);
}

function invalid(message: string): SimulatedError {
  return new SimulatedError(400, `Malformed input request: ${message}, please reformat your input and try again.`, {
    code: "ValidationException",
  });
}
