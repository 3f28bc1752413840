import { readChecked } from "../../../conversation/contract/caller_format.ts";
import { responses } from "../../../conversation/codecs/responses/mod.ts";
import {
  bodyOf,
  type Call,
  isMissingModel,
  isRejectedKey,
  jsonResponse,
  retryAfterHeader,
  type VendorApi,
} from "../../call.ts";
import { generate, readWith, type SimulatedEndpoint } from "../../generate.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { promptTokensIn, segmentsOf } from "../../tokens.ts";
import { openaiCosts, openaiUsage } from "./openai_reports.ts";
import { withChatReasoning, withResponsesReasoning } from "../default_reasoning.ts";
import { answerBatch } from "./openai_batches.ts";
import { chatEndpoint } from "./openai_chat.ts";
import { makeEmbeddings } from "./openai_embeddings.ts";
import { answerFile } from "./openai_files.ts";
import { moderate } from "./openai_moderations.ts";
import { rankDocuments } from "./openai_rerank.ts";
import { speak } from "./openai_speech.ts";
import { transcribe } from "./openai_transcripts.ts";
import { editImages, makeImages } from "./openai_images.ts";
import { checkChat } from "./openai_chat_rules.ts";
import { resolved } from "./openai_stored_responses.ts";
import { checkResponses, checkResponsesCount } from "./openai_responses_rules.ts";

/** OpenAI: chat completions and responses. Source: OpenAI API reference. */
export const openai: VendorApi = {
  prefix: "/openai",
  handle(call) {
    checkKey(call.headers.get("authorization"));
    const stored = answerFile(call) ?? answerBatch(call, openai);
    if (stored !== null) return stored;
    switch (`${call.method} ${call.path}`) {
      case "POST /v1/chat/completions":
        return generateCompletion(call);
      case "POST /v1/responses":
        return generateResponse(call);
      case "POST /v1/responses/input_tokens":
        return count(call);
      case "POST /v1/images/generations":
        return makeImages(call);
      case "POST /v1/images/edits":
        return editImages(call);
      case "POST /v1/embeddings":
        return makeEmbeddings(call);
      case "POST /v1/moderations":
        return moderate(call);
      case "POST /v1/rerank":
        return rankDocuments(call);
      case "POST /v1/audio/speech":
        return speak(call);
      case "POST /v1/audio/transcriptions":
      case "POST /v1/audio/translations":
        return transcribe(call);
      case "GET /v1/organization/costs":
        return openaiCosts(call);
      case "GET /v1/organization/usage/completions":
        return openaiUsage(call);
      case "GET /v1/models":
        return jsonResponse({ object: "list", data: MODELS.map(modelObject) }, headersOf(call));
    }
    const model = /^\/v1\/models\/(.+)$/.exec(call.path)?.[1];
    if (call.method !== "GET" || model === undefined) {
      throw new SimulatedError(404, `Invalid URL (${call.method} ${call.path})`);
    }
    checkModel(decodeURIComponent(model));
    return jsonResponse(modelObject(decodeURIComponent(model)), headersOf(call));
  },
  writeError: (failure, call) => {
    const { status, message, details } = failure;
    const { code = null, param = null } = details;
    const error = { message, type: typeFor(status), param, code: code ?? codeFor(status) };
    return jsonResponse({ error }, { ...headersOf(call), ...retryAfterHeader(failure) }, status);
  },
};

const MODELS = ["sandbox/chat-1", "sandbox/reasoner-1"];

function modelObject(id: string): JsonObject {
  return { id, object: "model", created: 1_767_225_600, owned_by: "sandbox" };
}

function generateResponse(call: Call): Promise<Response> {
  const { body, endpoint } = resolved(bodyOf(call, UNREADABLE), call);
  checkResponses(body);
  return generateReply(call, withResponsesReasoning(body), endpoint);
}

function generateCompletion(call: Call): Promise<Response> {
  const body = bodyOf(call, UNREADABLE);
  checkChat(body);
  return generateReply(call, withChatReasoning(body), chatEndpoint);
}

function generateReply(call: Call, body: JsonObject, endpoint: SimulatedEndpoint): Promise<Response> {
  const model = String(body.model);
  checkModel(model);
  return generate({ call, body, model, streamed: body.stream === true }, endpoint);
}

const UNREADABLE = "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your " +
  "HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)";

function count(call: Call): Response {
  const { body } = resolved(bodyOf(call, UNREADABLE), call);
  checkResponsesCount(body);
  checkModel(String(body.model));
  const inputTokens = promptTokensIn(segmentsOf(readWith((sent) => readChecked(responses.caller, sent), body)));
  return jsonResponse({ object: "response.input_tokens", input_tokens: inputTokens }, headersOf(call));
}

function checkKey(authorization: string | null): void {
  const key = /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1];
  if (key === undefined) {
    throw new SimulatedError(
      401,
      "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth " +
        "(i.e. Authorization: Bearer YOUR_KEY).",
    );
  }
  if (!isRejectedKey(key)) return;
  const masked = `${key.slice(0, 3)}${"*".repeat(8)}${key.slice(-4)}`;
  throw new SimulatedError(
    401,
    `Incorrect API key provided: ${masked}. You can find your API key at https://platform.openai.com/account/api-keys.`,
    { code: "invalid_api_key" },
  );
}

function checkModel(model: string): void {
  if (!isMissingModel(model)) return;
  throw new SimulatedError(404, `The model \`${model}\` does not exist or you do not have access to it.`, {
    code: "model_not_found",
  });
}

function headersOf({ requestId }: Call): Record<string, string> {
  return { "x-request-id": requestId };
}

/** Source: OpenAI API reference, "Error codes". */
function typeFor(status: number): string {
  if (status === 429) return "requests";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

function codeFor(status: number): string | null {
  return status === 429 ? "rate_limit_exceeded" : null;
}
