import { relayStream } from "../calls/stream_relay.ts";
import type { ReplyContext } from "../conversation/caller_format.ts";
import { withCallerFieldName } from "../conversation/caller_field_error.ts";
import type { RequestTarget } from "../conversation/upstream_format.ts";
import type { WriteResult } from "../conversation/write_result.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { Reply } from "../conversation/reply.ts";
import { requestHeadersOf } from "../http/headers.ts";
import { modelFacts } from "../conversation/known_models.ts";
import type { OutboundResponse } from "../upstreams/outbound_call.ts";
import { usageWithCache } from "../caches/hit.ts";
import { jsonBytes, responseHeaders, streamMediaType } from "./response_headers.ts";
import { ArrayRelay } from "./array_relay.ts";
import { countHostedCalls, plausibleUsage } from "./plausible_usage.ts";
import { unreadableReply } from "./stream_errors.ts";
import { openPrefixOf, withPrefix } from "./cached_request.ts";
import { chargeText } from "./charge_text.ts";
import { customToolsOf } from "./custom_tools.ts";
import { emulationFor } from "./emulation.ts";
import { canSearch } from "./hosted_search.ts";
import { inlineMedia } from "./inline_media.ts";
import { toCallerReply } from "./caller_reply.ts";
import { countTextTokens } from "./token_estimate.ts";
import { vendorStream } from "./vendor_stream.ts";
import type { Translation } from "./translation.ts";
import { TranslateRelay } from "./translate_relay.ts";
import { isSameFormat, outputLimitOf, type TextAttempt, type TextParts } from "./attempt.ts";
import { cancelSignalOf, estimatedUsageOf } from "./request_usage.ts";
import { readWholeReply } from "./whole_reply.ts";

/**
 * Handles a request whose caller and vendor use different formats. The request and the reply are parsed into the
 * neutral format and written in the other format. Source: docs/api/text.md#translation.
 */
export async function translate(attempt: TextAttempt, parts: TextParts): Promise<Response> {
  const { turn, provider, endpoint, candidate } = attempt;
  const translation = await translated(attempt, parts);
  const response = await provider.outbound.send({
    method: "POST",
    path: endpoint.path(candidate.model, turn.stream),
    // Header features apply to a body of their own format, even if it is rewritten.
    headers: isSameFormat(turn, endpoint) ? requestHeadersOf(turn.header, endpoint.format.forwardedHeaders) : {},
    body: translation.prefix?.bodyOf(translation.body) ?? jsonBytes(translation.body),
    firstByteMs: turn.stream ? provider.streamFirstByteMs : provider.wholeFirstByteMs,
    callerSignal: cancelSignalOf(attempt),
    readError: endpoint.format.readError,
  });
  if (!turn.stream) return await answerWhole(response, attempt, translation, parts);
  if (response.mediaType !== (endpoint.format.streamMediaType ?? "text/event-stream")) {
    response.cancel();
    throw unreadableReply(attempt);
  }
  const events = new TranslateRelay(attempt, translation, parts);
  const relay = turn.framing === "sse" ? events : new ArrayRelay(events);
  const headers = responseHeaders(attempt, response, streamMediaType(turn.framing), translation.droppedFields);
  return new Response(relayStream(vendorStream(response, parts.clock), relay, attempt.settlement.admission, parts), {
    headers,
  });
}

async function translated(attempt: TextAttempt, parts: TextParts): Promise<Translation> {
  const { turn } = attempt;
  const own = limited(await conversationOf(attempt, parts), attempt);
  const prefix = await openPrefixOf(attempt);
  const conversation = withPrefix(own, prefix, attempt);
  const written = writtenFor(conversation, attempt);
  const named = turn.cache?.kind === "native" ? { cachedContent: turn.cache.upstreamName } : {};
  const { emulation, droppedFields } = emulationFor(conversation, written.droppedFields);
  return {
    body: { ...written.body, ...named },
    prefix,
    droppedFields: [...conversation.unsupportedFields, ...turn.format.droppedFields(turn.body, droppedFields)],
    emulation,
    names: {
      issuer: attempt.provider.name,
      tools: written.toolNames ?? new Map(),
      customTools: customToolsOf(conversation),
    },
    // A reply may repeat its request, but never the content of a cache.
    context: replyContextOf(attempt, own),
  };
}

function writtenFor(conversation: Conversation, attempt: TextAttempt): WriteResult<JsonObject> {
  const { turn, endpoint } = attempt;
  try {
    return endpoint.format.writeRequest(conversation, targetOf(attempt));
  } catch (thrown) {
    throw withCallerFieldName(thrown, turn.format, turn.body);
  }
}

function limited(conversation: Conversation, attempt: TextAttempt): Conversation {
  const limit = outputLimitOf(attempt);
  return limit === null ? conversation : { ...conversation, maxOutputTokens: limit };
}

/** Returns the caller's request in the neutral format, ready to be written for the attempt's vendor. */
async function conversationOf(attempt: TextAttempt, parts: TextParts): Promise<Conversation> {
  const { turn, endpoint } = attempt;
  const body = turn.format.replay.items ? parts.items.resolve(turn.accountId, turn.body) : turn.body;
  const read = turn.format.read(body);
  const remembered = turn.format.replay.signatures === "none" ? read : parts.reasoning.restore(turn.accountId, read);
  return await inlineMedia(remembered, endpoint.mustInline, parts.mediaInliner, turn);
}

/**
 * Returns the facts of the attempt that the vendor's codec needs. Whatever the codec adds to a limit stays within the
 * reservation.
 */
function targetOf(attempt: TextAttempt): RequestTarget {
  const { candidate, provider, model, measure, endpoint } = attempt;
  const isLimited = outputLimitOf(attempt) !== null || measure.limitField !== null;
  const reserved = outputLimitOf(attempt) ?? measure.outputTokens;
  return {
    model: candidate.model,
    provider: provider.name,
    maxOutputTokens: isLimited ? reserved : model.topProvider.maxCompletionTokens || null,
    facts: modelFacts(candidate.model, model),
    quirks: provider.quirks,
    hasWebSearch: canSearch({ model, provider, endpoint, name: candidate.model }),
  };
}

function replyContextOf({ turn }: TextAttempt, conversation: Conversation): ReplyContext {
  return {
    model: turn.model,
    requestId: turn.requestId,
    createdAt: Math.floor(turn.receivedAt / 1000),
    conversation,
    includeUsage: turn.format.wantsUsage(turn.body),
  };
}

async function answerWhole(
  response: OutboundResponse,
  attempt: TextAttempt,
  translation: Translation,
  parts: TextParts,
): Promise<Response> {
  const { turn } = attempt;
  const bytes = await readWholeReply(response, attempt);
  const said = replyIn(bytes, attempt);
  const reply = translation.emulation.reply(toCallerReply(said, translation.names));
  parts.reasoning.keep(turn.accountId, reply.parts, turn.format.replay.signatures);
  const countOutput = () => countTextTokens(textOf(reply));
  const hostedCalls = attempt.measure.hostedTools > 0 ? countHostedCalls(new TextDecoder().decode(bytes)) : 0;
  const usage = reply.usage === null
    ? await estimatedUsageOf(turn, await countOutput())
    : usageWithCache(await plausibleUsage(attempt, reply.usage, { countOutput, hostedCalls }), turn.cache);
  const written = turn.format.writeReply({ ...reply, usage }, translation.context);
  if (turn.format.replay.items) parts.items.keepReply(turn.accountId, written.body);
  await chargeText(attempt, usage, "completed");
  const unsaid = written.droppedFields.map((loss) => turn.format.replyFieldNames[loss] ?? loss);
  const droppedFields = [...translation.droppedFields, ...unsaid];
  const headers = responseHeaders(attempt, response, "application/json", droppedFields);
  return new Response(jsonBytes(written.body), { headers });
}

function replyIn(bytes: Uint8Array, attempt: TextAttempt): Reply {
  try {
    return attempt.endpoint.format.readReply(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (cause) {
    throw unreadableReply(attempt, cause);
  }
}

function textOf(reply: Reply): string {
  return reply.parts.map((part) => part.kind === "tool_call" ? part.input : "text" in part ? part.text : "").join("\n");
}
