import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import { type Call, jsonResponse } from "../../call.ts";
import { followDirectives } from "../../pictures/make.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { tokensOf } from "../../tokens.ts";
import { SANDBOX_DIMENSIONS, vectorOf } from "../../vectors.ts";
import { checkFields, fieldOf, listIn } from "./google_fields.ts";

const MAX_REQUESTS = 100;
const MAX_DIMENSIONS = 3_072;

/** `:embedContent`. Source: Gemini API reference, "Embeddings". */
export async function embedContent(call: Call, body: JsonObject): Promise<Response> {
  checkFields(body, "EmbedContentRequest");
  return await answer(call, [body], ([vector], usage) => ({ embedding: vector, ...usage }));
}

/** `:batchEmbedContents`. Source: Gemini API reference, "Embeddings". */
export async function batchEmbedContents(call: Call, body: JsonObject, model: string): Promise<Response> {
  checkFields(body, "BatchEmbedContentsRequest");
  const requests = listIn(body.requests ?? []);
  if (requests.length > MAX_REQUESTS) {
    throw badBatch(`requests: at most ${MAX_REQUESTS} requests can be in one batch`);
  }
  const odd = requests.findIndex((request) => request.model !== `models/${model}`);
  if (requests.length === 0) throw badBatch("requests: must not be empty");
  if (odd >= 0) throw badBatch(`requests[${odd}].model: must match the model in the path`);
  return await answer(call, requests, (embeddings, usage) => ({ embeddings, ...usage }));
}

async function answer(
  call: Call,
  requests: readonly JsonObject[],
  write: (vectors: readonly JsonObject[], usage: JsonObject) => JsonObject,
): Promise<Response> {
  const texts = requests.map(textOf);
  const unavailable = () => "The model is overloaded. Please try again later.";
  const directives = await followDirectives(call, texts.join("\n"), "google", unavailable);
  if (directives instanceof Response) return directives;
  const vectors = requests.map((request, nth) => {
    const dimensions = Number(fieldOf(request, "outputDimensionality") ?? SANDBOX_DIMENSIONS);
    if (!(dimensions >= 1 && dimensions <= MAX_DIMENSIONS)) throw badBatch("output_dimensionality: out of range");
    return { values: vectorOf(texts[nth] ?? "", dimensions) };
  });
  const promptTokenCount = texts.reduce((sum, text) => sum + Math.max(1, tokensOf(text)), 0);
  return jsonResponse(write(vectors, directives.noUsage ? {} : { usageMetadata: { promptTokenCount } }));
}

function textOf(request: JsonObject): string {
  const parts = isObject(request.content) ? listIn(request.content.parts ?? []) : [];
  if (parts.length === 0) throw badBatch("content: contents is not specified");
  return parts.map((part) => String(part.text ?? "")).join(" ");
}

function badBatch(message: string): SimulatedError {
  return new SimulatedError(400, `* BatchEmbedContentsRequest.${message}\n`);
}
