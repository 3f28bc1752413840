import type { EventWriter } from "../../../conversation/contract/caller_format.ts";
import type { Frame } from "../../../platform/lib/streams/frame.ts";
import { responses } from "../../../conversation/codecs/responses/mod.ts";
import type { ReplyPart } from "../../../conversation/neutral/reply.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { encodeSse } from "../../encoders.ts";
import type { GenerationRequest, SimulatedEndpoint } from "../../generate.ts";
import { isAbsent, isObject, listOf } from "../../../conversation/neutral/wire_value.ts";
import { issueSignature } from "../../signatures.ts";
import { searchTextParts } from "../../web_search.ts";
import type { PlannedReasoning } from "../../reply_plan.ts";
import { cachedAt } from "./openai_cache.ts";
import { neverReasons } from "../default_reasoning.ts";
import { failureMessage } from "./openai_messages.ts";

/** `POST /v1/responses`. Source: Responses API reference. */
export const responsesEndpoint: SimulatedEndpoint = {
  vendor: "openai",
  format: responses.caller,
  cachedAt,
  startsWithUsage: false,
  neverReasons,
  newReplyId: () => "",
  newCallId: ({ vendors }) => `call_${vendors.nextId()}`,
  partsOf({ reasoning, parts: spoken, stop, search: found }, request) {
    const parts = [...searchTextParts(found, "responses").map((part) => shownPart(part, request)), ...spoken];
    return { parts: reasoning === null ? parts : [reasoningPart(reasoning, request), ...parts], stop };
  },
  reportsUsage: () => true,
  withoutUsage: (body) => body,
  defaultMessage: failureMessage,
  failureFrames,
  encoder: encodeSse,
  headersOf: ({ requestId }) => ({ "x-request-id": requestId }),
  streamType: "text/event-stream; charset=utf-8",
};

/** The pages of a search are included if `include` names them. */
function shownPart(part: ReplyPart, { body }: GenerationRequest): ReplyPart {
  if (part.kind !== "web_search" || listOf(body.include).includes("web_search_call.action.sources")) return part;
  return { ...part, results: null };
}

/**
 * Returns reasoning as the vendor shows it. It has a summary if one was requested, or if a directive alone caused the
 * reasoning. It has a signature if `include` names it.
 */
function reasoningPart({ text, redacted }: PlannedReasoning, { body, call }: GenerationRequest): ReplyPart {
  const reasoning = isObject(body.reasoning) ? body.reasoning : null;
  const isShown = !redacted && (reasoning === null || !isAbsent(reasoning.summary));
  const isProven = listOf(body.include).includes("reasoning.encrypted_content");
  const signature = isProven ? { signature: issueSignature("responses", call.requestId) } : {};
  return { kind: "reasoning", text: isShown ? text : "", ...signature };
}

/** Returns the nested `error` event that the vendor sends, then the failed response. */
function failureFrames(writer: EventWriter): Frame[] {
  const message = failureMessage(500);
  const [told, ...rest] = writer.fail(new GatewayError("upstream_error", message));
  if (told === undefined) return rest;
  const { type, sequence_number } = JSON.parse(told.data);
  const error = { type: "server_error", code: "server_error", message, param: null };
  return [{ event: "error", data: JSON.stringify({ type, sequence_number, error }) }, ...rest];
}
