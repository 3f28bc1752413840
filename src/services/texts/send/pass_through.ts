import { relayStream } from "../../calls/stream_relay.ts";
import type { PassThrough, PreparedRequest } from "../../../conversation/contract/pass_through.ts";
import { statePolicyOf } from "../../../conversation/contract/issued_ids.ts";
import type { Usage } from "../../../conversation/neutral/usage.ts";
import { FailedReply } from "../../../conversation/parts/reply/failed_reply.ts";
import { returnBodyBuffer } from "../../../platform/lib/bytes/body_buffers.ts";
import { freeBytes } from "../../../platform/lib/bytes/free_bytes.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { type MaybePromise, recover } from "../../../platform/lib/basics/maybe_promise.ts";
import { responseHeaders, streamHeaders, wholeResponse } from "../relay/response_headers.ts";
import { withAnswer } from "../relay/answering_model.ts";
import { ArrayRelay } from "../relay/array_relay.ts";
import { countHostedCalls, plausibleUsage } from "../charge/plausible_usage.ts";
import { continuationOf, continuedReply, continuedStream, hasHops, longAttempt } from "./long_replies.ts";
import type { SendHop } from "./long_attempt.ts";
import { failureOfReading, unreadableReply } from "../relay/stream_errors.ts";
import { chargeText } from "../charge/charge_text.ts";
import { issuedIdsIn, keepIssuedIds, type ParsedReply, withIssuedIds } from "../relay/issued_ids_relay.ts";
import { PassRelay } from "../relay/pass_relay.ts";
import { countTextTokens, passedTextOf } from "../plan/token_estimate.ts";
import { vendorEvents, vendorStream } from "./vendor_stream.ts";
import type { OutboundResponse } from "../../../vendors/upstreams/call/outbound_call.ts";
import { idOf } from "../../../vendors/upstreams/contract/provider.ts";
import type { Model } from "../../../vendors/catalog/model.ts";
import { factsAt } from "../plan/served_endpoints.ts";
import {
  type ForwardedFields,
  forwardedFields,
  outputLimitOf,
  type TextAttempt,
  type TextParts,
} from "../plan/attempt.ts";
import { streamWithDroppedFields } from "./refused_reasoning.ts";
import { cancelSignalOf, estimatedUsageOf } from "../charge/request_usage.ts";
import { readWholeReply } from "../relay/whole_reply.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const translateModule = new Late(() => import("./translate.ts"));
const largeReplyModule = new Late(() => import("../large_replies/large_reply.ts"));
const unexpectedFramingModule = new Late(() => import("../relay/unexpected_framing.ts"));

/**
 * Handles a request whose caller and vendor use the same format. The bytes pass, except for the model's name, the
 * gateway's own keys and the option that requests usage. Usage is read from a copy of the stream. Source:
 * docs/api/text.md#pass-through.
 */
export async function passThrough(begun: TextAttempt, pass: PassThrough, parts: TextParts): Promise<Response> {
  const continuation = continuationOf(begun);
  const attempt = continuation === null ? begun : await longAttempt(begun, continuation, true);
  const { request } = attempt;
  const forwarded = forwardedFields(attempt);
  const sent = prepared(attempt, pass, forwarded, parts);
  const { droppedFields, restorer } = sent;
  const received = await send(attempt, forwarded, sent);
  const sendHop: SendHop = (token) => {
    const members = { ...forwarded.members, [continuation?.member ?? ""]: token };
    return send(attempt, forwarded, prepared(attempt, pass, { ...forwarded, members }, parts));
  };
  if (!request.stream) {
    if (received.mediaType === "text/event-stream") {
      const { translateFraming } = await translateModule.load();
      return await translateFraming(received, attempt, { parts, droppedFields });
    }
    const bytes =
      await (hasHops(attempt) ? continuedReply(received, attempt, sendHop) : readWholeReply(received, attempt));
    if (bytes instanceof Uint8Array) return await answerWhole(bytes, received, { attempt, sent, parts });
    const { passLargeReply } = await largeReplyModule.load();
    const response = await passLargeReply({ bytes, response: received, attempt }, sent, parts);
    freeSent(request, sent);
    return response;
  }
  const response = vendorEvents(received, attempt);
  if (response.mediaType !== "text/event-stream") {
    const { mayBeReply } = await unexpectedFramingModule.load();
    if (attempt.endpoint.asEvents === undefined && mayBeReply(received.mediaType)) {
      const { translateFraming } = await translateModule.load();
      return await translateFraming(received, attempt, { parts, droppedFields });
    }
    response.cancel();
    throw unreadableReply(attempt);
  }
  const events = withIssuedIds(new PassRelay(attempt, pass, restorer?.stream()), attempt, parts);
  const relay = request.framing === "sse" ? events : new ArrayRelay(events);
  const starting = streamWithDroppedFields(response, attempt, parts.clock);
  const started = starting === null ? null : await starting;
  const dropped = started === null ? droppedFields : [...new Set([...droppedFields, ...started.lost])];
  const headers = streamHeaders(attempt, response, dropped);
  const source = hasHops(attempt)
    ? await continuedStream(response, attempt, { clock: parts.clock, send: sendHop })
    : started?.source ?? vendorStream(response, parts.clock);
  return new Response(relayStream(source, relay, attempt.settlement, parts), { headers });
}

function send(
  attempt: TextAttempt,
  forwarded: ForwardedFields,
  { body, version }: PreparedRequest,
): Promise<OutboundResponse> {
  const { request, provider, endpoint, candidate } = attempt;
  return provider.outbound.send({
    method: "POST",
    path: endpoint.path(candidate.model, request.stream),
    headers: forwarded.headers,
    ...(version !== undefined && endpoint.versionField !== undefined && {
      replaced: { [endpoint.versionField]: version },
    }),
    body,
    firstByteMs: request.stream ? provider.streamFirstByteMs : provider.wholeFirstByteMs,
    callerSignal: cancelSignalOf(attempt),
    readError: endpoint.readError ?? endpoint.format.readError,
  });
}

/** What answering a whole reply needs. */
interface WholeReply {
  readonly attempt: TextAttempt;
  readonly sent: PreparedRequest;
  readonly parts: TextParts;
}

async function answerWhole(
  bytes: Uint8Array<ArrayBuffer>,
  received: OutboundResponse,
  { attempt, sent, parts }: WholeReply,
): Promise<Response> {
  const { request, endpoint } = attempt;
  const { droppedFields, restorer } = sent;
  const reply = parsedReplyOf(bytes, received, attempt);
  const usage = await usageOfWhole(reply, received, attempt);
  const name = endpoint.passThrough?.modelIn(reply.value) ?? null;
  const charged = chargeText(await withAnswer(attempt, name, usage), usage, "completed");
  const policy = statePolicyOf(request.body);
  const kept = keepIssuedIds(issuedIdsIn(reply, endpoint.passThrough?.issuedIds ?? null, policy), attempt, parts);
  if (charged || kept) await Promise.all([charged, kept]);
  freeSent(request, sent);
  const own = restorer === undefined ? bytes : restorer.whole(bytes, reply.value);
  const lost = endpoint.format.readDroppedFields?.(reply.value) ?? [];
  const dropped = lost.length === 0
    ? droppedFields
    : [...new Set([...droppedFields, ...request.format.droppedFields(request.body, lost)])];
  return wholeResponse(request.record, own, responseHeaders(attempt, received, "application/json", dropped));
}

/**
 * Frees the request's bytes. Its usage was read or estimated, and it is not sent again: a reply is complete. A
 * connection that has not sent all of it was closed.
 */
function freeSent({ bytes }: Pick<TextAttempt["request"], "bytes">, { body }: PreparedRequest): void {
  returnBodyBuffer(bytes);
  for (const part of body.parts) freeBytes(part); // others only if the body was edited
}

/** Returns the fields that the vendor would not be sent, for a dry run. */
export function droppedInPassThrough(attempt: TextAttempt, pass: PassThrough, parts: TextParts): readonly string[] {
  return prepared(attempt, pass, forwardedFields(attempt), parts).droppedFields;
}

/** Returns the bytes for the vendor, and the fields that they omit, in the caller's spelling. */
function prepared(
  attempt: TextAttempt,
  pass: PassThrough,
  forwarded: ForwardedFields,
  parts: TextParts,
): PreparedRequest {
  const { request, candidate, provider, endpoint } = attempt;
  const { bytes, scan, body: sent, outlineText, cache } = request;
  const sending = pass.prepare({
    bytes,
    scan,
    body: sent,
    wholeBody: exactBodyOf(request),
    outlineText,
    changed: { ...request.clampedLimit?.set, ...forwarded.members },
    model: candidate.model,
    outputLimit: outputLimitOf(attempt),
    cachedContent: cache?.kind === "native" ? cache.upstreamName : null,
    quirks: provider.quirks,
    dropsReasoning: attempt.dropsReasoning === true,
    version: endpoint.versionField === undefined ? null : request.header(endpoint.versionField),
    facts: factsAt({ provider, model: attempt.model, name: candidate.model }),
    provider: idOf(provider),
    hasOtherMakers: hasOtherMakers(attempt.model),
    issuedItem: (id) => parts.items.find(request.accountId, id),
  });
  return {
    ...sending,
    droppedFields: [...request.format.droppedFields(sent, sending.droppedFields), ...forwarded.droppedFields],
  };
}

/** The whole body, in which numbers of tools keep their digits: an edit writes the values that it moves. */
function exactBodyOf({ wholeBody, exactOf }: TextAttempt["request"]): () => JsonObject {
  let exact: JsonObject | null = null;
  return () => exact ??= exactOf(wholeBody());
}

/** Whether several providers or credentials serve a model. Each is a maker of signatures that others cannot read. */
function hasOtherMakers({ serves }: Model): boolean {
  return serves.length > 1 || serves.some(({ credentials = [] }) => credentials.length > 1);
}

/** A byte order mark stays, so that a reply with one is no JSON. */
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** Throws if the response is not JSON; nothing is then charged. */
function parsedReplyOf(
  bytes: Uint8Array<ArrayBuffer>,
  response: Pick<OutboundResponse, "cancel">,
  attempt: TextAttempt,
): ParsedReply {
  try {
    const text = DECODER.decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch (cause) {
    response.cancel(); // its connection may have the replies of other requests
    throw unreadableReply(attempt, cause);
  }
}

/**
 * Returns the usage that a whole reply reports, or an estimate if it reports none. Throws if the value is not a reply;
 * nothing is then charged.
 */
function usageOfWhole(
  { text, value }: ParsedReply,
  response: Pick<OutboundResponse, "cancel">,
  attempt: TextAttempt,
): MaybePromise<Usage> {
  const { request, endpoint: { format }, measure } = attempt;
  const failed = (cause: unknown): never => {
    response.cancel();
    throw failureOfReading(cause, attempt);
  };
  const countReply = async () => await countTextTokens(passedTextOf(format.readReply(value)));
  try {
    const reported = format.readUsage(value);
    if (reported === null) return countReply().then((tokens) => estimatedUsageOf(request, tokens)).catch(failed);
    if (reported.freshTokens === 0 && reported.outputTokens === 0) throwFailureIn(value, format);
    // A reply without text, such as one that a filter stopped, may not be readable.
    const countOutput = () => countReply().catch(() => 0);
    const hostedCalls = measure.hostedTools > 0 ? countHostedCalls(text) : 0;
    const usage = plausibleUsage(attempt, reported, { countOutput, hostedCalls });
    return recover(usage, failed);
  } catch (cause) {
    return failed(cause);
  }
}

/** Throws the failure that a reply reports beside a usage of nothing. Another reply may not be readable. */
function throwFailureIn(value: unknown, { readReply }: Pick<TextAttempt["endpoint"]["format"], "readReply">): void {
  try {
    readReply(value);
  } catch (cause) {
    if (cause instanceof FailedReply) throw cause;
  }
}
