import { statePolicyOf } from "../../../conversation/contract/issued_ids.ts";
import type { Conversation } from "../../../conversation/neutral/conversation.ts";
import type { PreparedRequest } from "../../../conversation/contract/pass_through.ts";
import type { CallerFormatName } from "../../../conversation/neutral/reasoning_signature.ts";
import { usageWithCache } from "../../caches/hit.ts";
import type { Usage } from "../../../conversation/neutral/usage.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { JoinedBytes } from "../../../platform/lib/bytes/joined_bytes.ts";
import type { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type { OutboundResponse } from "../../../vendors/upstreams/call/outbound_call.ts";
import type { TextAttempt, TextParts } from "../plan/attempt.ts";
import { withAnswer } from "../relay/answering_model.ts";
import { chargeText } from "../charge/charge_text.ts";
import { keepIssuedIds } from "../relay/issued_ids_relay.ts";
import { plausibleUsage } from "../charge/plausible_usage.ts";
import { estimatedUsageOf } from "../charge/request_usage.ts";
import { responseHeaders } from "../relay/response_headers.ts";
import { unreadableReply } from "../relay/stream_errors.ts";
import { countSampledTokens } from "../plan/token_estimate.ts";
import type { Translation } from "../relay/translation.ts";
import { chargeReceived } from "../relay/whole_reply.ts";
import { buffersOf, piecesResponse } from "./reply_pieces.ts";
import type { ReplyFacts, ReplyJob, ReplyJobResults } from "./reply_jobs.ts";
import { runJob } from "./reply_runner.ts";

const RETRY_AFTER_SECONDS = 5;

/** A whole reply that is too large to be read in the thread that received it. */
export interface LargeReply {
  readonly bytes: JoinedBytes;
  readonly response: OutboundResponse;
  readonly attempt: TextAttempt;
}

/**
 * Charges a large reply and returns it as the vendor sent it.
 *
 * @throws {UpstreamFailure} If it is not a reply; nothing is charged.
 */
export async function passLargeReply(reply: LargeReply, sent: PreparedRequest, parts: TextParts): Promise<Response> {
  const { attempt, response } = reply;
  const { request, endpoint } = attempt;
  const facts = await resultOf({
    name: "passed",
    pieces: buffersOf(reply.bytes),
    format: endpoint.format.name as CallerFormatName,
    policy: statePolicyOf(request.body),
    names: sent.restorer?.names ?? null,
    issuer: sent.restorer?.issuer ?? null,
  }, reply);
  if (facts.usage === null && facts.output === null) throw unreadable(reply, "No reply of its format");
  const usage = await plausibleUsageOf(facts, reply) ?? await countedUsageOf(facts, reply);
  const answered = await withAnswer(attempt, facts.model, usage);
  await Promise.all([chargeText(answered, usage, "completed"), keepIssuedIds(facts.ids, attempt, parts)]);
  const lost = facts.lost.length === 0 ? [] : request.format.droppedFields(request.body, facts.lost);
  const dropped = [...new Set([...sent.droppedFields, ...lost])];
  return piecesResponse(
    request.record,
    facts.pieces,
    responseHeaders(attempt, response, "application/json", dropped),
  );
}

/**
 * Charges a large reply and returns it in the caller's format.
 *
 * @throws {UpstreamFailure} If it is not a reply; nothing is charged.
 */
export async function translateLargeReply(
  reply: LargeReply,
  translation: Translation,
  parts: TextParts,
): Promise<Response> {
  const { attempt, response } = reply;
  const { request, endpoint } = attempt;
  const { names, emulation, context } = translation;
  const reading = { format: endpoint.format.name, names, emulation: emulation.rule };
  const facts = await resultOf({ ...reading, name: "translated", pieces: buffersOf(reply.bytes) }, reply);
  const plausible = await plausibleUsageOf(facts, reply);
  const usage = plausible === null ? await countedUsageOf(facts, reply) : usageWithCache(plausible, request.cache);
  const written = await resultOf({
    ...reading,
    name: "write",
    pieces: facts.pieces,
    accountId: request.accountId,
    caller: request.format.name,
    // A reply repeats settings, and none of the messages.
    context: { ...context, conversation: context.conversation && withoutMessages(context.conversation) },
    replay: request.format.replay,
    usage,
  }, reply);
  parts.reasoning.keepValues(written.reasoning);
  parts.items.keepValues(written.items);
  const charged = chargeText(await withAnswer(attempt, facts.model, usage), usage, "completed");
  if (charged) await charged;
  const unsupported = written.droppedFields.map((loss) => request.format.replyFieldNames[loss] ?? loss);
  const lost = request.format.droppedFields(request.body, facts.lost);
  const droppedFields = [...new Set([...translation.droppedFields, ...lost, ...written.unread, ...unsupported])];
  const headers = responseHeaders(attempt, response, "application/json", droppedFields);
  return piecesResponse(request.record, written.pieces, headers);
}

/** The settings of a request as values that can be sent to a thread, which gets no number with its digits. */
function withoutMessages(conversation: Conversation): Conversation {
  const settings: Conversation = { ...conversation, turns: [] };
  return JSON.parse(JSON.stringify(settings));
}

/** The reported usage, corrected where it is implausible; null if the vendor reports none. */
async function plausibleUsageOf(facts: ReplyFacts, { attempt }: LargeReply): Promise<Usage | null> {
  if (facts.usage === null) return null;
  const hostedCalls = attempt.measure.hostedTools > 0 ? facts.hostedCalls : 0;
  return await plausibleUsage(attempt, facts.usage, { countOutput: () => outputTokensOf(facts), hostedCalls });
}

async function countedUsageOf(facts: ReplyFacts, { attempt }: LargeReply): Promise<Usage> {
  return await estimatedUsageOf(attempt.request, await outputTokensOf(facts));
}

/** A reply without text, such as one that a filter stopped, may not be readable. */
async function outputTokensOf({ output }: ReplyFacts): Promise<number> {
  return output === null ? 0 : await countSampledTokens(output);
}

/** Does a job. What the thread could not do is charged by an estimate, as the vendor has done its work. */
async function resultOf<J extends ReplyJob>(job: J, reply: LargeReply): Promise<ReplyJobResults[J["name"]]> {
  const { attempt, bytes } = reply;
  const outcome = await runJob(job, attempt.request.accountId);
  if ("result" in outcome) return outcome.result;
  if ("unreadable" in outcome) throw unreadable(reply, outcome.unreadable);
  await chargeReceived(bytes.length, attempt);
  throw new GatewayError("overloaded", "Cannot read the large reply of the vendor: its thread is not available", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    provider: attempt.provider.name,
    cause: new Error(outcome.unavailable),
  });
}

function unreadable({ attempt, response }: LargeReply, reason: string): UpstreamFailure {
  response.cancel(); // its connection may have the replies of other requests
  return unreadableReply(attempt, new TypeError(reason));
}
