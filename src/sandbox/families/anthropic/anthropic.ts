import { readCountRequest, writeCount } from "../../../conversation/codecs/messages/mod.ts";
import {
  bodyOf,
  type Call,
  isMissingModel,
  isRejectedKey,
  jsonResponse,
  retryAfterHeader,
  type VendorApi,
} from "../../call.ts";
import { generate, readWith } from "../../generate.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { promptTokensIn, segmentsOf } from "../../tokens.ts";
import { answerMessageBatch } from "./anthropic_batches.ts";
import { headersOf } from "./anthropic_messages.ts";
import { anthropicCosts, anthropicUsage } from "./anthropic_reports.ts";
import { checkMessage, checkMessageCount } from "./anthropic_rules.ts";
import { checkVersion } from "./anthropic_version_rules.ts";
import { threaded } from "./anthropic_threads.ts";
import { withMessagesReasoning } from "../default_reasoning.ts";

const UNREADABLE = "The request body is not valid JSON";

/** Anthropic: messages. Source: Messages API reference. */
export const anthropic: VendorApi = {
  prefix: "/anthropic",
  handle(call) {
    checkCredential(call.headers);
    const batches = answerMessageBatch(call, anthropic);
    if (batches !== null) return batches;
    switch (`${call.method} ${call.path}`) {
      case "POST /v1/messages":
        return generateReply(call);
      case "POST /v1/messages/count_tokens":
        return count(call);
      case "GET /v1/organizations/cost_report":
        return anthropicCosts(call);
      case "GET /v1/organizations/usage_report/messages":
        return anthropicUsage(call);
      case "GET /v1/models":
        return jsonResponse({ data: [MODEL], has_more: false, first_id: MODEL.id, last_id: MODEL.id }, headersOf(call));
    }
    const id = call.method === "GET" ? /^\/v1\/models\/(.+)$/.exec(call.path)?.[1] : undefined;
    if (id === undefined) throw new SimulatedError(404, "Not Found");
    checkModel(decodeURIComponent(id));
    return jsonResponse({ ...MODEL, id: decodeURIComponent(id) }, headersOf(call));
  },
  writeError: (failure, call) => {
    const { status, message, details } = failure;
    const { code, shown } = details;
    const error = { type: code ?? typeFor(status), message, ...(shown && { details: shown }) };
    const body = { type: "error", error, request_id: call.requestId };
    return jsonResponse(body, { ...headersOf(call), ...retryAfterHeader(failure) }, status);
  },
};

const MODEL = {
  type: "model",
  id: "sandbox/messages-1",
  display_name: "Sandbox Messages",
  created_at: "2026-01-01T00:00:00Z",
};

function generateReply(call: Call): Promise<Response> {
  const { body, endpoint } = threaded(bodyOf(call, UNREADABLE), call);
  checkMessage(body);
  checkVersion(call.headers.get("anthropic-version") ?? "", body);
  const model = String(body.model);
  checkModel(model);
  return generate({ call, body: withMessagesReasoning(body), model, streamed: body.stream === true }, endpoint);
}

function count(call: Call): Response {
  const body = bodyOf(call, UNREADABLE);
  checkMessageCount(body);
  checkModel(String(body.model));
  const conversation = readWith(readCountRequest, body);
  return jsonResponse(writeCount(promptTokensIn(segmentsOf(conversation))), headersOf(call));
}

/** The key is sent as `x-api-key`, or as a bearer token by newer clients. Both require the version header. */
function checkCredential(headers: Headers): void {
  const bearer = /^Bearer (\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  const key = headers.get("x-api-key") ?? bearer;
  if (key === undefined || key === "") throw new SimulatedError(401, "x-api-key header is required");
  if (isRejectedKey(key)) {
    throw new SimulatedError(401, headers.has("x-api-key") ? "invalid x-api-key" : "Invalid bearer token");
  }
  const version = headers.get("anthropic-version");
  if (version === null) throw new SimulatedError(400, "anthropic-version: header is required");
  if (!/^\d{4}-\d{2}-\d{2}$/.test(version)) {
    throw new SimulatedError(400, `anthropic-version: "${version}" is not a valid version for this model`);
  }
}

function checkModel(model: string): void {
  if (isMissingModel(model)) throw new SimulatedError(404, `model: ${model}`);
}

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** Source: Messages API reference, "Errors". */
function typeFor(status: number): string {
  return TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
}
