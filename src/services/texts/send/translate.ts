import { relayStream } from "../../calls/stream_relay.ts";
import { readModelName } from "../../../conversation/models/answering_models.ts";
import type { ReplyContext } from "../../../conversation/contract/caller_format.ts";
import { withCallerFieldName } from "../../../conversation/contract/caller_field_error.ts";
import type { RequestTarget } from "../../../conversation/contract/upstream_format.ts";
import type { ToolPropertyNames, WriteResult } from "../../../conversation/neutral/write_result.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { parseWithExactValues } from "../../../conversation/neutral/exact_values.ts";
import { FailedReply, failureOfStop } from "../../../conversation/parts/reply/failed_reply.ts";
import type { Conversation } from "../../../conversation/neutral/conversation.ts";
import type { Reply } from "../../../conversation/neutral/reply.ts";
import { isPending, type MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import { idOf } from "../../../vendors/upstreams/contract/provider.ts";
import type { OutboundResponse } from "../../../vendors/upstreams/call/outbound_call.ts";
import { usageWithCache } from "../../caches/hit.ts";
import type { OpenPrefix } from "../../caches/prefix.ts";
import { jsonBytes, responseHeaders, streamHeaders, wholeResponse } from "../relay/response_headers.ts";
import { withAnswer } from "../relay/answering_model.ts";
import { ArrayRelay } from "../relay/array_relay.ts";
import { countHostedCalls, plausibleUsage } from "../charge/plausible_usage.ts";
import { continuationOf, continuedReply, continuedStream, hasHops, longAttempt } from "./long_replies.ts";
import type { SendHop } from "./long_attempt.ts";
import { failureOfReading, unreadableReply } from "../relay/stream_errors.ts";
import { factsAt } from "../plan/served_endpoints.ts";
import { openPrefixOf, withPrefix } from "../plan/cached_request.ts";
import { chargeText } from "../charge/charge_text.ts";
import { streamWithDroppedFields, withoutReasoning } from "./refused_reasoning.ts";
import { customToolsOf } from "../relay/custom_tools.ts";
import { emulationFor } from "../relay/emulation.ts";
import { canSearch } from "../plan/hosted_search.ts";
import { inlineMedia, isTextOnly } from "../plan/inline_media.ts";
import { toCallerReply } from "../relay/caller_reply.ts";
import { planCaching } from "../prompt_caching/prompt_caching.ts";
import { countTextTokens, textOf } from "../plan/token_estimate.ts";
import { vendorEvents, vendorStream } from "./vendor_stream.ts";
import { mayBeReply, replyInEvents } from "../relay/unexpected_framing.ts";
import type { Translation } from "../relay/translation.ts";
import { TranslateRelay } from "../relay/translate_relay.ts";
import {
  type ForwardedFields,
  forwardedFields,
  isSameFormat,
  outputLimitOf,
  type TextAttempt,
  type TextParts,
} from "../plan/attempt.ts";
import { cancelSignalOf, estimatedUsageOf } from "../charge/request_usage.ts";
import { readWholeReply } from "../relay/whole_reply.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const checkedFramingModule = new Late(() => import("./checked_framing.ts"));
const largeReplyModule = new Late(() => import("../large_replies/large_reply.ts"));

/**
 * Handles a request whose caller and vendor use different formats. The request and the reply are parsed into the
 * neutral format and written in the other format. Source: docs/api/text.md#translation.
 */
export async function translate(begun: TextAttempt, parts: TextParts): Promise<Response> {
  refuseUnknownTypes(begun);
  const continuation = continuationOf(begun);
  const attempt = continuation === null ? begun : await longAttempt(begun, continuation, false);
  const translation = await translated(attempt, parts);
  const received = await send(attempt, translation, translation.body);
  const sendHop: SendHop = (token) =>
    send(attempt, translation, { ...translation.body, [continuation?.member ?? ""]: token });
  return await answer(received, attempt, { translation, sendHop }, parts);
}

/**
 * Answers a caller of the vendor's own format from a response in another framing than it asked for: a whole reply to a
 * stream, or a stream to a whole request.
 *
 * @param droppedFields What the request that passed through left out.
 */
export async function translateFraming(
  received: OutboundResponse,
  attempt: TextAttempt,
  { parts, droppedFields }: { readonly parts: TextParts; readonly droppedFields: readonly string[] },
): Promise<Response> {
  const translation = { ...await translated(attempt, parts), droppedFields };
  const sendHop: SendHop = () => Promise.reject(unreadableReply(attempt));
  return await answer(received, attempt, { translation, sendHop }, parts);
}

async function answer(
  received: OutboundResponse,
  attempt: TextAttempt,
  { translation, sendHop }: { readonly translation: Translation; readonly sendHop: SendHop },
  parts: TextParts,
): Promise<Response> {
  const { request, endpoint } = attempt;
  if (!request.stream) return await answerWhole(received, attempt, { translation, sendHop }, parts);
  const response = vendorEvents(received, attempt);
  const isExpected = response.mediaType === (endpoint.format.streamMediaType ?? "text/event-stream");
  if (!isExpected && (endpoint.asEvents !== undefined || !mayBeReply(response.mediaType))) {
    response.cancel();
    throw unreadableReply(attempt);
  }
  const events = new TranslateRelay(attempt, translation, parts, isExpected);
  const relay = request.framing === "sse" ? events : new ArrayRelay(events);
  const checked = isExpected || hasHops(attempt) ? null : await checkedSource(response, attempt, parts);
  const starting = checked === null ? streamWithDroppedFields(response, attempt, parts.clock) : null;
  const started = starting === null ? null : await starting;
  const dropped = [...new Set([...translation.droppedFields, ...started?.lost ?? []])];
  const headers = streamHeaders(attempt, response, dropped);
  const source = hasHops(attempt)
    ? await continuedStream(response, attempt, { clock: parts.clock, send: sendHop })
    : checked ?? started?.source ?? vendorStream(response, parts.clock);
  return new Response(relayStream(source, relay, attempt.settlement, parts), { headers });
}

/** Loaded when it is needed: vendors name the media type of their streams. */
async function checkedSource(response: OutboundResponse, attempt: TextAttempt, { clock }: TextParts) {
  return await (await checkedFramingModule.load()).readableSource(response, attempt, clock);
}

function send(attempt: TextAttempt, translation: Translation, body: JsonObject): Promise<OutboundResponse> {
  const { request, provider, endpoint, candidate } = attempt;
  return provider.outbound.send({
    method: "POST",
    path: endpoint.path(candidate.model, request.stream),
    headers: translation.headers,
    body: translation.prefix?.bodyOf(body) ?? jsonBytes(body),
    firstByteMs: request.stream ? provider.streamFirstByteMs : provider.wholeFirstByteMs,
    callerSignal: cancelSignalOf(attempt),
    readError: endpoint.readError ?? endpoint.format.readError,
  });
}

/** What a dry run shows of a translation. */
export type ShownTranslation = Pick<Translation, "droppedFields" | "caching">;

/** Returns the fields of a request that its translation omits, and its marks, for a dry run. */
export async function shownTranslation(attempt: TextAttempt, parts: TextParts): Promise<ShownTranslation> {
  refuseUnknownTypes(attempt);
  return await translated(attempt, parts);
}

/** Not for a request that has passed through: only its reply is translated. */
function refuseUnknownTypes({ request }: TextAttempt): void {
  request.format.refuseUnknownTypes(request.wholeBody());
}

/** Returns the translation of a request, immediately if nothing has to be fetched or opened for it. */
function translated(attempt: TextAttempt, parts: TextParts): MaybePromise<Translation> {
  const conversation = conversationOf(attempt, parts);
  const needsPrefix = attempt.request.cache?.kind === "emulated";
  return isPending(conversation) || needsPrefix
    ? translatedLater(conversation, { needsPrefix, attempt }, parts)
    : translationOf(conversation, { prefix: null, attempt }, parts);
}

async function translatedLater(
  reading: MaybePromise<Conversation>,
  { needsPrefix, attempt }: { readonly needsPrefix: boolean; readonly attempt: TextAttempt },
  parts: TextParts,
): Promise<Translation> {
  const conversation = await reading;
  return translationOf(conversation, { prefix: needsPrefix ? await openPrefixOf(attempt) : null, attempt }, parts);
}

function translationOf(
  inlined: Conversation,
  { prefix, attempt }: { readonly prefix: OpenPrefix | null; readonly attempt: TextAttempt },
  parts: TextParts,
): Translation {
  const { request } = attempt;
  const fillsCache = inlined.maxOutputTokens === 0 && !isSameFormat(request, attempt.endpoint);
  const own = limited(attempt.dropsReasoning === true ? withoutReasoning(inlined) : inlined, attempt, fillsCache);
  const caching = planCaching(withPrefix(own, prefix, attempt), attempt, parts);
  const { conversation } = caching;
  const written = writtenFor(conversation, attempt);
  const more = [...attempt.dropsReasoning === true ? ["reasoning_signature"] : [], ...fillsCache ? ["max_tokens"] : []];
  const losses = more.length > 0 ? [...new Set([...written.droppedFields, ...more])] : written.droppedFields;
  const { emulation, droppedFields } = emulationFor(conversation, losses);
  // Header features apply to a body of their own format, even if it is rewritten.
  const forwarded = isSameFormat(request, attempt.endpoint) ? forwardedFields(attempt) : NOTHING_FORWARDED;
  const body = forwarded === NOTHING_FORWARDED ? written.body : { ...written.body, ...forwarded.members };
  return {
    body: request.cache?.kind === "native" ? { ...body, cachedContent: request.cache.upstreamName } : body,
    headers: { ...caching.headers, ...forwarded.headers },
    prefix,
    caching,
    droppedFields: [
      ...conversation.unsupportedFields,
      ...request.format.droppedFields(request.body, droppedFields),
      ...forwarded.droppedFields,
    ],
    emulation,
    names: {
      issuer: idOf(attempt.provider),
      tools: written.toolNames ?? NO_NAMES,
      properties: written.propertyNames ?? NO_PROPERTY_NAMES,
      customTools: customToolsOf(conversation),
    },
    // A reply may repeat its request, but never the content of a cache.
    context: replyContextOf(attempt, own),
  };
}

const NOTHING_FORWARDED: ForwardedFields = { headers: {}, members: {}, droppedFields: [] };
const NO_NAMES: ReadonlyMap<string, string> = new Map();
const NO_PROPERTY_NAMES: ToolPropertyNames = new Map();

function writtenFor(conversation: Conversation, attempt: TextAttempt): WriteResult<JsonObject> {
  const { request, endpoint } = attempt;
  try {
    return endpoint.format.writeRequest(conversation, targetOf(attempt));
  } catch (thrown) {
    throw withCallerFieldName(thrown, request.format, request.body);
  }
}

/** @param fillsCache Whether the request only fills a cache, for which other formats generate the least they can. */
function limited(conversation: Conversation, attempt: TextAttempt, fillsCache: boolean): Conversation {
  const limit = fillsCache ? 1 : outputLimitOf(attempt);
  return limit === null ? conversation : { ...conversation, maxOutputTokens: limit };
}

/** Returns the caller's request in the neutral format, ready to be written for the attempt's vendor. */
function conversationOf(attempt: TextAttempt, parts: TextParts): MaybePromise<Conversation> {
  const { request } = attempt;
  const whole = request.exactOf(request.wholeBody());
  const body = request.format.replay.items ? parts.items.resolve(request.accountId, whole) : whole;
  const read = request.format.read(body);
  if (request.format.replay.signatures === "none") return inlined(read, attempt, parts);
  const restored = () => inlined(parts.reasoning.restore(request.accountId, read), attempt, parts);
  const loading = parts.reasoning.load(request.accountId, read);
  return loading === null ? restored() : loading.then(restored);
}

function inlined(
  restored: Conversation,
  { request, endpoint }: TextAttempt,
  parts: TextParts,
): MaybePromise<Conversation> {
  return isTextOnly(restored) ? restored : inlineMedia(restored, endpoint.mustInline, parts.mediaInliner, request);
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
    provider: idOf(provider),
    maxOutputTokens: isLimited ? reserved : model.topProvider.maxCompletionTokens || null,
    facts: factsAt({ provider, model, name: candidate.model }),
    quirks: provider.quirks,
    hasWebSearch: canSearch({ model, provider, endpoint, name: candidate.model }),
  };
}

function replyContextOf({ request }: TextAttempt, conversation: Conversation): ReplyContext {
  return {
    model: request.model,
    requestId: request.requestId,
    createdAt: Math.floor(request.receivedAt / 1000),
    conversation,
    includeUsage: request.format.wantsUsage(request.body),
  };
}

async function answerWhole(
  response: OutboundResponse,
  attempt: TextAttempt,
  { translation, sendHop }: { readonly translation: Translation; readonly sendHop: SendHop },
  parts: TextParts,
): Promise<Response> {
  const { request } = attempt;
  const bytes =
    await (hasHops(attempt) ? continuedReply(response, attempt, sendHop) : readWholeReply(response, attempt));
  if (!(bytes instanceof Uint8Array)) {
    const { translateLargeReply } = await largeReplyModule.load();
    return await translateLargeReply({ bytes, response, attempt }, translation, parts);
  }
  const { reply: vendorReply, lost } = replyIn(bytes, response, attempt);
  const reply = translation.emulation.reply(toCallerReply(vendorReply, translation.names));
  parts.reasoning.keep(request.accountId, reply.parts, request.format.replay.signatures);
  const countOutput = () => countTextTokens(textOf(reply));
  const hostedCalls = attempt.measure.hostedTools > 0 ? countHostedCalls(DECODER.decode(bytes)) : 0;
  const plausible = reply.usage === null ? null : plausibleUsage(attempt, reply.usage, { countOutput, hostedCalls });
  const usage = plausible === null
    ? await estimatedUsageOf(request, await countOutput())
    : usageWithCache(await plausible, request.cache);
  const written = request.format.writeReply({ ...reply, usage }, translation.context);
  if (request.format.replay.items) parts.items.keepReply(request.accountId, written.body);
  const answered = await withAnswer(attempt, readModelName(vendorReply.model), usage);
  const charged = chargeText(answered, usage, "completed");
  if (charged) await charged;
  const unsupported = written.droppedFields.map((loss) => request.format.replyFieldNames[loss] ?? loss);
  const droppedFields = [...new Set([...translation.droppedFields, ...lost, ...unsupported])];
  const headers = responseHeaders(attempt, response, "application/json", droppedFields);
  return wholeResponse(request.record, jsonBytes(written.body), headers);
}

/**
 * Reads a reply, and what is lost: the fields of the request that the vendor left out, in the caller's spelling, and
 * the parts of the reply that have no neutral form, in the vendor's.
 */
function replyIn(
  bytes: Uint8Array,
  response: Pick<OutboundResponse, "cancel">,
  attempt: TextAttempt,
): { readonly reply: Reply; readonly lost: readonly string[] } {
  const { endpoint: { format }, request } = attempt;
  try {
    const text = DECODER.decode(bytes);
    const streamed = replyInEvents(text, bytes, format);
    const body = streamed === null ? parseWithExactValues(text) : null;
    const reply = streamed ?? format.readReply(body);
    const failure = request.format.reportsInvalidCalls ? null : failureOfStop(reply.stop);
    if (failure !== null) throw new FailedReply(failure);
    const left = request.format.droppedFields(request.body, format.readDroppedFields?.(body) ?? []);
    return { reply, lost: [...left, ...reply.unsupportedFields] };
  } catch (cause) {
    response.cancel(); // its connection may have the replies of other requests
    throw failureOfReading(cause, attempt);
  }
}

/** Removes a byte order mark. */
const DECODER = new TextDecoder();
