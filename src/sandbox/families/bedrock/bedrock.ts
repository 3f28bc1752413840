import { Buffer } from "node:buffer";
import { readCountRequest } from "../../../conversation/codecs/messages/mod.ts";
import { isObject, objectOf, parsedOrNull, textOrNull } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import { bodyOf, type Call, isMissingModel, jsonResponse, type VendorApi } from "../../call.ts";
import { generate, readWith, type SimulatedEndpoint } from "../../generate.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { promptTokensIn, segmentsOf } from "../../tokens.ts";
import { messagesEndpoint } from "../anthropic/anthropic_messages.ts";
import { checkMessage, checkMessageCount } from "../anthropic/anthropic_rules.ts";
import { converseEndpoint } from "./bedrock_converse.ts";
import { checkConverse } from "./bedrock_converse_rules.ts";
import { readConverse } from "./bedrock_converse_reader.ts";
import { checkCredential } from "./bedrock_credentials.ts";
import { embed, isEmbeddingModel } from "./bedrock_embeddings.ts";
import { encodeChunks } from "./bedrock_frames.ts";
import { withMessagesReasoning } from "../default_reasoning.ts";

const UNREADABLE = "Malformed input request, please reformat your input and try again.";
const VERSION = "bedrock-2023-05-31";
const STREAM_TYPE = "application/vnd.amazon.eventstream";

/** Amazon Bedrock: Anthropic's messages and Converse. Source: Amazon Bedrock API reference. */
export const bedrock: VendorApi = {
  prefix: "/bedrock",
  async handle(call) {
    await checkCredential(call);
    if (`${call.method} ${call.path}` === "GET /async-invoke") return jsonResponse({ asyncInvokeSummaries: [] });
    const [, segment = "", operation] = /^\/model\/([^/]+)\/([a-z-]+)$/.exec(call.path) ?? [];
    const run = operation === undefined ? undefined : OPERATIONS[operation];
    if (call.method !== "POST" || run === undefined) {
      throw new SimulatedError(404, "Unable to determine service/operation name to be authorized", {
        code: "UnknownOperationException",
      });
    }
    const model = decodeURIComponent(segment);
    if (isMissingModel(model)) throw invalid("The provided model identifier is invalid.");
    return await run(call, model);
  },
  writeError({ status, message, details }, call) {
    const code = details.code !== undefined && /Exception$/.test(details.code) ? details.code : codeFor(status);
    return jsonResponse({ message }, {
      ...headersOf(call),
      "x-amzn-errortype": `${code}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
      date: new Date(call.vendors.clock.now()).toUTCString(),
    }, status);
  },
};

type Operation = (call: Call, model: string) => MaybePromise<Response>;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  "invoke": (call, model) => isEmbeddingModel(model) ? embed(call, model) : invoke(call, model, false),
  "invoke-with-response-stream": (call, model) => invoke(call, model, true),
  "converse": (call, model) => converse(call, model, false),
  "converse-stream": (call, model) => converse(call, model, true),
  "count-tokens": (call, model) => jsonResponse({ inputTokens: counted(call, model) }, headersOf(call)),
};

const invokeEndpoint: SimulatedEndpoint = {
  ...messagesEndpoint,
  vendor: "bedrock",
  newReplyId: ({ vendors }) => `msg_bdrk_01${vendors.nextId()}`,
  newCallId: ({ vendors }) => `toolu_bdrk_01${vendors.nextId()}`,
  encoder: encodeChunks,
  headersOf,
  streamType: STREAM_TYPE,
};

function invoke(call: Call, model: string, streamed: boolean): Promise<Response> {
  const body = messageIn(bodyOf(call, UNREADABLE), model);
  checkMessage(body);
  return generate(
    { call, body: { ...withMessagesReasoning(body), stream: streamed }, model, streamed },
    invokeEndpoint,
  );
}

/** A request as Anthropic's own API has it. */
function messageIn(
  { anthropic_version: version, anthropic_beta: betas, ...body }: JsonObject,
  model: string,
): JsonObject {
  if (version !== VERSION) throw invalid(`anthropic_version: expected "${VERSION}"`);
  const extra = ["model", "stream", "service_tier"].find((name) => name in body);
  if (extra !== undefined) throw invalid(`${extra}: Extra inputs are not permitted`);
  if (betas !== undefined && !(Array.isArray(betas) && betas.every((flag) => /^[a-z0-9-]+$/.test(String(flag))))) {
    throw invalid("invalid beta flag");
  }
  if (/"type":"url"/.test(JSON.stringify(body.messages))) throw invalid("URL sources are not supported");
  return { ...body, model };
}

function converse(call: Call, model: string, streamed: boolean): Promise<Response> {
  const body = bodyOf(call, UNREADABLE);
  checkConverse(body);
  return generate({ call, body: { ...body, stream: streamed }, model, streamed }, converseEndpoint);
}

function counted(call: Call, model: string): number {
  if (model.includes("uncounted")) throw invalid("The provided model doesn't support counting tokens.");
  const input = objectOf(bodyOf(call, UNREADABLE).input);
  if (isObject(input?.converse)) {
    checkConverse(input.converse);
    return promptTokensIn(segmentsOf(readConverse(input.converse)));
  }
  const encoded = textOrNull(objectOf(input?.invokeModel)?.body);
  const inner = encoded === null ? null : parsedOrNull(Buffer.from(encoded, "base64").toString());
  if (!isObject(inner)) throw invalid("input: expected converse or invokeModel");
  const { max_tokens: _limit, ...body } = messageIn(inner, model);
  checkMessageCount(body);
  return promptTokensIn(segmentsOf(readWith(readCountRequest, body)));
}

function invalid(message: string): SimulatedError {
  return new SimulatedError(400, message, { code: "ValidationException" });
}

const CODES: Readonly<Record<number, string>> = {
  400: "ValidationException",
  401: "UnrecognizedClientException",
  403: "AccessDeniedException",
  404: "ResourceNotFoundException",
  408: "ModelTimeoutException",
  424: "ModelErrorException",
  429: "ThrottlingException",
  503: "ServiceUnavailableException",
};

function codeFor(status: number): string {
  return CODES[status] ?? (status >= 500 ? "InternalServerException" : "ValidationException");
}

function headersOf({ requestId }: Call): Record<string, string> {
  return { "x-amzn-requestid": requestId };
}
