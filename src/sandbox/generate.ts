import { type CallerFormat, type EventWriter, readChecked, type ReplyContext } from "../conversation/caller_format.ts";
import type { Frame } from "../lib/frame.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { Reply, ReplyPart, Stop } from "../conversation/reply.ts";
import type { Usage } from "../conversation/usage.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import { chunksOf } from "./chunks.ts";
import { chunkStream, delay, type FrameEncoder } from "./chunk_stream.ts";
import { type Call, jsonResponse } from "./call.ts";
import { promptTextOf } from "./echo.ts";
import { type Directives, readDirectives, type Vendor } from "./directives.ts";
import { eventsOf } from "./events.ts";
import { SimulatedError } from "./simulated_error.ts";
import { planReply, type ReplyPlan } from "./reply_plan.ts";
import { promptTokensIn, replyTokensOf, segmentsOf, tokensOf } from "./tokens.ts";

/** A valid request. */
export interface ValidRequest {
  readonly call: Call;
  readonly body: JsonObject;
  readonly model: string;
  readonly streamed: boolean;
  /** The tokens of cached content that the request names. They count as read from a cache. Default: none. */
  readonly cachedTokens?: number;
}

/** A request with its parsed content. */
export interface GenerationRequest extends ValidRequest {
  readonly conversation: Conversation;
  readonly directives: Directives;
}

/** The properties of a vendor's text endpoint. */
export interface SimulatedEndpoint {
  readonly vendor: Vendor;
  /** The format of the endpoint. */
  readonly format: CallerFormat;
  /** Whether the vendor caches only at markers. */
  readonly cachesOnlyAtMarkers: boolean;
  /** Whether the format reports the prompt's usage at the start of a stream. */
  readonly startsWithUsage: boolean;
  newReplyId(call: Call): string;
  newCallId(call: Call): string;
  /**
   * Returns the visible parts of a reply plan. The vendor may hide or sign reasoning, and may have no text for a
   * refusal.
   */
  partsOf(speech: ReplyPlan, ask: GenerationRequest): { readonly parts: readonly ReplyPart[]; readonly stop: Stop };
  /** Whether the stream reports usage, if the format leaves that to the caller. */
  reportsUsage(body: JsonObject): boolean;
  /** Removes usage from a body or a frame's data, because the codec always writes it. */
  withoutUsage(body: JsonObject): JsonObject;
  /** Returns the vendor's default message for a status. */
  defaultMessage(status: number): string;
  /** Returns the frames that report the vendor's own failure in a stream. */
  failureFrames(writer: EventWriter): readonly Frame[];
  encoder(ask: GenerationRequest): FrameEncoder;
  headersOf(call: Call): Readonly<Record<string, string>>;
  readonly streamType: string;
}

/**
 * Responds to a request as its prompt directs.
 *
 * @throws {SimulatedError} If a failure is ordered, or the format's codec cannot parse the request.
 */
export async function generate(question: ValidRequest, voice: SimulatedEndpoint): Promise<Response> {
  const { call, streamed } = question;
  const conversation = readWith((body) => readChecked(voice.format, body), question.body);
  const prompt = promptTextOf(conversation);
  const directives = readDirectives(prompt, voice.vendor);
  if (directives.stallMs > 0) await stall(call, directives.stallMs);
  failAsOrdered(prompt, directives, question, voice);
  if (directives.html) return page();
  const ask: GenerationRequest = { ...question, conversation, directives };
  const reply = replyTo(ask, voice);
  return streamed ? streamAnswer(reply, ask, voice) : wholeAnswer(reply, ask, voice);
}

/**
 * Parses a request that the vendor's own rules allow.
 *
 * @throws {SimulatedError} 400 for everything else that the codec rejects. The sandbox does not simulate every feature.
 */
export function readWith(read: (body: JsonObject) => Conversation, body: JsonObject): Conversation {
  try {
    return read(body);
  } catch (error) {
    if (error instanceof GatewayError) throw new SimulatedError(400, error.message, { param: error.details.field });
    throw error;
  }
}

async function stall({ vendors: world, signal: gone, onDisconnect: leave }: Call, ms: number): Promise<void> {
  await delay(world.clock, ms, gone);
  if (gone.aborted) leave();
}

function failAsOrdered(
  prompt: string,
  directives: Directives,
  { call, streamed }: ValidRequest,
  voice: SimulatedEndpoint,
): void {
  const { fail, flaky, errorAfter } = directives;
  if (fail !== null) {
    const { status, message, retryAfterSeconds } = fail;
    throw new SimulatedError(status, message ?? voice.defaultMessage(status), {
      retryAfterSeconds: retryAfterSeconds ?? undefined,
    });
  }
  const fails = (flaky > 0 && call.vendors.attemptsOf(prompt) <= flaky) || (errorAfter !== null && !streamed);
  if (fails) throw new SimulatedError(503, voice.defaultMessage(503));
}

function page(): Response {
  const html = "<!doctype html><html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>";
  return new Response(html, { headers: { "content-type": "text/html; charset=utf-8" } });
}

function replyTo(ask: GenerationRequest, voice: SimulatedEndpoint): Reply {
  const { call, conversation, directives, model } = ask;
  const speech = planReply(conversation, directives, () => voice.newCallId(call));
  const { parts, stop } = voice.partsOf(speech, ask);
  return {
    id: voice.newReplyId(call),
    model,
    createdAt: Math.floor(call.vendors.clock.now() / 1000),
    parts,
    stop,
    usage: directives.noUsage ? null : usageOf(speech, ask, voice),
    unsupportedFields: [],
  };
}

function usageOf(
  { reasoning: thoughts, parts, search: finding }: ReplyPlan,
  { call, conversation, model, cachedTokens = 0 }: GenerationRequest,
  voice: SimulatedEndpoint,
): Usage {
  const segments = segmentsOf(conversation);
  const scope = `${voice.format.name} ${model}`;
  const { promptCache } = call.vendors;
  const shares = promptCache.account(scope, segments, voice.cachesOnlyAtMarkers);
  const { written5mTokens, written1hTokens } = shares;
  const readTokens = Math.max(shares.readTokens, cachedTokens);
  const reasoningTokens = thoughts === null ? 0 : tokensOf(thoughts.text);
  const found = finding === null ? 0 : tokensOf(finding.uncitedText + finding.citedText);
  return {
    freshTokens: Math.max(0, promptTokensIn(segments) - readTokens - written5mTokens - written1hTokens),
    cacheReadTokens: readTokens,
    cacheWrite5mTokens: written5mTokens,
    cacheWrite1hTokens: written1hTokens,
    toolPromptTokens: 0,
    outputTokens: replyTokensOf(parts) + found + reasoningTokens,
    reasoningTokens,
    ...(finding === null ? {} : { webSearches: 1 }),
  };
}

function contextOf({ model, call, body, conversation }: GenerationRequest, voice: SimulatedEndpoint): ReplyContext {
  return {
    model,
    requestId: call.requestId,
    createdAt: Math.floor(call.vendors.clock.now() / 1000),
    conversation,
    includeUsage: voice.reportsUsage(body),
  };
}

function wholeAnswer(reply: Reply, ask: GenerationRequest, voice: SimulatedEndpoint): Response {
  const { directives, call } = ask;
  const written = voice.format.writeReply(reply, contextOf(ask, voice)).body;
  const body = directives.noUsage ? voice.withoutUsage(written) : written;
  const headers = voice.headersOf(call);
  const { cutAfter, closeAfter, truncates } = directives;
  if (cutAfter === null && closeAfter === null && !truncates) return jsonResponse(body, headers);
  const text = JSON.stringify(body);
  const half = text.slice(0, Math.ceil(text.length / 2));
  const beats = [
    { kind: "frames" as const, frames: [{ event: null, data: half }] },
    { kind: "end" as const, how: cutAfter === null ? "close" as const : "cut" as const },
  ];
  const encoder = { encode: (frames: readonly Frame[]) => frames.map(({ data }) => data).join(""), end: () => "" };
  return bodyAnswer(beats.values(), encoder, ask, { ...headers, "content-type": "application/json" });
}

function streamAnswer(reply: Reply, ask: GenerationRequest, voice: SimulatedEndpoint): Response {
  const writer = voice.format.eventWriter(contextOf(ask, voice));
  const startUsage = voice.startsWithUsage && reply.usage ? { ...reply.usage, ...NO_OUTPUT } : null;
  const beats = chunksOf([...eventsOf(reply, startUsage)], {
    write: (event) => {
      const frames = writer.write(event);
      return ask.directives.noUsage ? frames.map((frame) => usagelessFrame(frame, voice)) : frames;
    },
    fail: () => voice.failureFrames(writer),
  }, ask.directives);
  const headers = { ...voice.headersOf(ask.call), "content-type": voice.streamType, "cache-control": "no-cache" };
  return bodyAnswer(beats, voice.encoder(ask), ask, headers);
}

const NO_OUTPUT = { outputTokens: 0, reasoningTokens: 0 };

function usagelessFrame(frame: Frame, voice: SimulatedEndpoint): Frame {
  if (!frame.data.includes('"usage"')) return frame;
  return { ...frame, data: JSON.stringify(voice.withoutUsage(JSON.parse(frame.data))) };
}

function bodyAnswer(
  beats: Parameters<typeof chunkStream>[0],
  encoder: FrameEncoder,
  { call }: GenerationRequest,
  headers: Readonly<Record<string, string>>,
): Response {
  const body = chunkStream(beats, { encoder, clock: call.vendors.clock, onDisconnect: call.onDisconnect });
  return new Response(body, { headers });
}
