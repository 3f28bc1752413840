import { readCountRequest, writeCount } from "../../../conversation/codecs/content/mod.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import { bodyOf, type Call, isMissingModel, isRejectedKey, jsonResponse, type VendorApi } from "../../call.ts";
import { generate, readWith } from "../../generate.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { promptTokensIn, segmentsOf } from "../../tokens.ts";
import { answerContentBatch } from "./google_batches.ts";
import { cachedContents, type KeptContent, namedCache } from "./google_caches.ts";
import { withContentReasoning } from "../default_reasoning.ts";
import { contentEndpoint } from "./google_content.ts";
import { batchEmbedContents, embedContent } from "./google_embeddings.ts";
import { errorBody } from "./google_error.ts";
import { fieldOf, listIn } from "./google_fields.ts";
import { makeImage, wantsImage } from "./google_images.ts";
import { checkCaches } from "./google_model_rules.ts";
import { checkCount, checkGenerate } from "./google_rules.ts";
import { makeSpeech, wantsAudio } from "./google_speech.ts";
import { interactions, videoFile } from "./google_videos.ts";

const UNREADABLE = "Invalid JSON payload received. Expected a JSON object.";

/** Google: the Gemini API, under each of its versions. Source: Gemini API reference. */
export const google: VendorApi = {
  prefix: "/google",
  handle(call) {
    checkKey(call);
    const batches = answerContentBatch(call, google);
    if (batches !== null) return batches;
    const [, version, rest] = /^\/(v1|v1beta|v1alpha)\/(.+)$/.exec(call.path) ?? [];
    if (version === undefined || rest === undefined) throw notFound();
    if (/^cachedContents(\/|$)/.test(rest)) return cachedContents(call, rest);
    if (/^interactions(\/|$)/.test(rest)) return interactions(call, rest);
    if (/^files\//.test(rest)) return videoFile(call, rest);
    if (call.method === "GET") return models(call, version, rest);
    const [, model, verb] = /^models\/(.+):(\w+)$/.exec(decodeURIComponent(rest)) ?? [];
    if (call.method !== "POST" || model === undefined) throw notFound();
    switch (verb) {
      case "generateContent":
      case "streamGenerateContent":
        return generateReply(call, version, model, verb);
      case "countTokens":
        return count(call, version, model);
      case "embedContent":
      case "batchEmbedContents":
        return embed(call, version, model, verb);
      default:
        throw notFound();
    }
  },
  writeError: ({ status, message, details }, call) => {
    const body = errorBody(status, message, details);
    // A stream without `alt=sse` is a list, and so is its error.
    return jsonResponse(isListStream(call) ? [body] : body, {}, status);
  },
};

function isListStream({ path, query }: Call): boolean {
  return path.endsWith(":streamGenerateContent") && query.get("alt") !== "sse";
}

function notFound(): SimulatedError {
  return new SimulatedError(404, "The requested URL was not found on this server.");
}

function generateReply(call: Call, version: string, model: string, verb: string): Promise<Response> {
  const body = bodyOf(call, UNREADABLE);
  checkCaches(fieldOf(body, "cachedContent"), model);
  const cache = namedCache(call, body, model);
  checkGenerate(body, model, cache?.content ?? null);
  checkModel(model, version, verb);
  if (verb === "generateContent" && wantsImage(body)) return makeImage(call, body, model);
  if (verb === "generateContent" && wantsAudio(body)) return makeSpeech(call, body, model);
  const streamed = verb === "streamGenerateContent";
  // The codec of the format expects the values from the path in the body.
  const whole = { ...withContentReasoning(behind(body, cache), model), model, stream: streamed };
  const question = { call, body: whole, model, streamed, ...(cache && { cachedTokens: cache.tokens }) };
  return generate(
    question,
    isListStream(call) ? { ...contentEndpoint, streamType: "application/json" } : contentEndpoint,
  );
}

/** Returns the model's input: the content of the cache, then the request. */
function behind(body: JsonObject, cache: KeptContent | null): JsonObject {
  if (cache === null) return body;
  const { cachedContent: _camel, cached_content: _snake, contents, ...rest } = body;
  return { ...cache.content, ...rest, contents: [...listIn(cache.content.contents), ...listIn(contents)] };
}

function count(call: Call, version: string, model: string): Response {
  const body = bodyOf(call, UNREADABLE);
  checkCount(body, model);
  checkModel(model, version, "countTokens");
  const inner = fieldOf(body, "generateContentRequest");
  const cache = isObject(inner) ? namedCache(call, inner, model) : null;
  const counted = isObject(inner) ? { generateContentRequest: behind(inner, cache) } : body;
  const conversation = readWith(readCountRequest, { ...counted, model });
  return jsonResponse(writeCount(promptTokensIn(segmentsOf(conversation))));
}

function embed(call: Call, version: string, model: string, verb: string): Promise<Response> {
  const body = bodyOf(call, UNREADABLE);
  checkModel(model, version, verb);
  return verb === "embedContent" ? embedContent(call, body) : batchEmbedContents(call, body, model);
}

function checkKey({ headers, query }: Call): void {
  const key = headers.get("x-goog-api-key") ?? query.get("key");
  if (key === null || key === "") {
    throw new SimulatedError(
      403,
      "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other " +
        "form of API consumer identity to call this API.",
    );
  }
  if (isRejectedKey(key)) {
    throw new SimulatedError(400, "API key not valid. Please pass a valid API key.", { code: "API_KEY_INVALID" });
  }
}

function checkModel(model: string, version: string, method: string): void {
  if (!isMissingModel(model)) return;
  throw new SimulatedError(
    404,
    `models/${model} is not found for API version ${version}, or is not supported for ${method}. Call ListModels to ` +
      "see the list of available models and their supported methods.",
  );
}

function models(call: Call, version: string, rest: string): Response {
  if (rest === "models") return jsonResponse({ models: [modelOf("sandbox/content-1")] });
  const name = /^models\/(.+)$/.exec(decodeURIComponent(rest))?.[1];
  if (name === undefined) throw new SimulatedError(404, "The requested URL was not found on this server.");
  checkModel(name, version, `${call.method} models`);
  return jsonResponse(modelOf(name));
}

function modelOf(name: string): Record<string, unknown> {
  return {
    name: `models/${name}`,
    version: "001",
    displayName: "Sandbox Content",
    inputTokenLimit: 128_000,
    outputTokenLimit: 16_384,
    supportedGenerationMethods: ["generateContent", "countTokens"],
  };
}
