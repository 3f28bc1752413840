import type { Conversation, Part } from "../../../conversation/neutral/conversation.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { WordSearch } from "../../../platform/lib/text/word_search.ts";
import { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type { OutboundResponse } from "../../../vendors/upstreams/call/outbound_call.ts";
import type { TextAttempt } from "../plan/attempt.ts";
import type { ReadAheadStream } from "./started_stream.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const startedStreamModule = new Late(() => import("./started_stream.ts"));

/** What a history with reasoning of a vendor contains, in any format. */
const REASONING = new WordSearch(
  /"(?:redacted_)?thinking"|"encrypted_content"|"reasoning_details"|"thought_?[sS]ignature"/,
  ['thinking"', '"encrypted_content"', '"reasoning_details"', '"thought'],
);

/**
 * Whether a vendor refused a request because of the reasoning of earlier turns, which the request can do without. Such
 * reasoning is bound to the model, the account and the unchanged conversation before it.
 */
export function isReasoningRefused(error: unknown, { request, endpoint, dropsReasoning }: TextAttempt): boolean {
  if (dropsReasoning === true || !(error instanceof UpstreamFailure) || error.kind !== "invalid") return false;
  const code = error.facts.vendorCode ?? null;
  if (endpoint.format.refusesReasoning?.({ message: error.message, code }) !== true) return false;
  return REASONING.test(request.outlineText);
}

/**
 * Returns a vendor's stream with what it reports as withheld from the model, before the response to the caller begins.
 * Null if the request has no reasoning, or vendors of the format report nothing: the stream was not read.
 */
export function streamWithDroppedFields(
  response: OutboundResponse,
  attempt: TextAttempt,
  clock: Clock,
): Promise<ReadAheadStream> | null {
  const { endpoint, request } = attempt;
  if (endpoint.format.readDroppedFields === undefined || !REASONING.test(request.outlineText)) return null;
  return startedStreamModule.load().then(({ startedStream }) => startedStream(response, attempt, clock));
}

/** A conversation without the reasoning of earlier turns. */
export function withoutReasoning(conversation: Conversation): Conversation {
  const turns = conversation.turns.map((turn) => ({ ...turn, parts: turn.parts.flatMap(unsigned) }));
  return { ...conversation, turns: turns.filter(({ parts }) => parts.length > 0) };
}

function unsigned(part: Part): Part[] {
  if (part.kind === "reasoning") return [];
  if (!("signature" in part)) return [part];
  const { signature: _refused, ...others } = part;
  return [others];
}
