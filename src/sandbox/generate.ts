import type { CallerFormat, EventWriter, ReplyContext } from "../conversation/contract/caller_format.ts";
import type { WireFormatName } from "../conversation/neutral/reasoning_signature.ts";
import type { Frame } from "../platform/lib/streams/frame.ts";
import type { JsonObject } from "../platform/lib/json/json_object.ts";
import type { Conversation } from "../conversation/neutral/conversation.ts";
import type { Reply, ReplyPart, Stop } from "../conversation/neutral/reply.ts";
import type { Usage } from "../conversation/neutral/usage.ts";
import { GatewayError } from "../platform/lib/basics/gateway_error.ts";
import { chunksOf } from "./chunks.ts";
import { chunkStream, delay, type FrameEncoder } from "./chunk_stream.ts";
import { type Call, jsonResponse } from "./call.ts";
import { promptTextOf } from "./echo.ts";
import { type Directives, readDirectives, type Vendor } from "./directives.ts";
import { eventsOf } from "./events.ts";
import type { CachedAt } from "./prompt_cache.ts";
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

/** The part of a reply that one of several requests makes. */
export interface SimulatedHop {
  readonly plan: ReplyPlan;
  /** The output tokens of the requests before, which this one reads. */
  readonly tokensBefore: number;
  /** The token of the next request; null after the last one. */
  readonly token: string | null;
}

/** What is needed of a format to simulate its vendor. */
export interface SimulatedFormat extends Pick<CallerFormat, "check" | "read" | "writeReply" | "eventWriter"> {
  readonly name: WireFormatName;
}

/** The properties of a vendor's text endpoint. */
export interface SimulatedEndpoint {
  readonly vendor: Vendor;
  /** The format of the endpoint. */
  readonly format: SimulatedFormat;
  /** Where the vendor caches prompts of a model. */
  cachedAt(model: string): CachedAt;
  /** Whether the format reports the prompt's usage at the start of a stream. */
  readonly startsWithUsage: boolean;
  /** Whether a model never reasons, whatever a prompt directs. Default: none. */
  neverReasons?(model: string): boolean;
  newReplyId(call: Call): string;
  newCallId(call: Call): string;
  /**
   * Returns the visible parts of a reply plan. The vendor may hide or sign reasoning, and may have no text for a
   * refusal.
   */
  partsOf(plan: ReplyPlan, request: GenerationRequest): { readonly parts: readonly ReplyPart[]; readonly stop: Stop };
  /** Returns the part of a reply that this request makes, for vendors with several; null for all of it. */
  hopOf?(plan: ReplyPlan, request: GenerationRequest): SimulatedHop | null;
  /** Adds the token of the next request to a reply or the data of a frame. */
  withToken?(body: JsonObject, token: string): JsonObject;
  /** Whether the stream reports usage, if the format leaves that to the caller. */
  reportsUsage(body: JsonObject): boolean;
  /** Removes usage from a body or a frame's data, because the codec always writes it. */
  withoutUsage(body: JsonObject): JsonObject;
  /** Returns the vendor's default message for a status. */
  defaultMessage(status: number): string;
  /** Returns the frames that report the vendor's own failure in a stream. */
  failureFrames(writer: EventWriter): readonly Frame[];
  encoder(request: GenerationRequest): FrameEncoder;
  headersOf(call: Call): Readonly<Record<string, string>>;
  readonly streamType: string;
}

/**
 * Responds to a request as its prompt directs.
 *
 * @throws {SimulatedError} If a failure is ordered, or the format's codec cannot parse the request.
 */
export async function generate(question: ValidRequest, endpoint: SimulatedEndpoint): Promise<Response> {
  const { call, streamed } = question;
  const conversation = readWith((body) => {
    endpoint.format.check(body);
    return endpoint.format.read(body);
  }, question.body);
  const prompt = promptTextOf(conversation);
  const directives = readDirectives(prompt, endpoint.vendor);
  if (directives.stallMs > 0) await stall(call, directives.stallMs);
  throwRequestedFailure(prompt, directives, question, endpoint);
  if (directives.html) return page();
  const request: GenerationRequest = { ...question, conversation, directives };
  const { reply, token } = replyTo(request, endpoint);
  const own = token === null || !endpoint.withToken ? endpoint : withTokens(endpoint, token);
  return streamed ? streamAnswer(reply, request, own) : wholeAnswer(reply, request, own);
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

async function stall({ vendors, signal, onDisconnect }: Call, ms: number): Promise<void> {
  await delay(vendors.clock, ms, signal);
  if (signal.aborted) onDisconnect();
}

function throwRequestedFailure(
  prompt: string,
  directives: Directives,
  { call, streamed }: ValidRequest,
  endpoint: SimulatedEndpoint,
): void {
  const { fail, flaky, errorAfter } = directives;
  if (fail !== null) {
    const { status, message, retryAfterSeconds } = fail;
    throw new SimulatedError(status, message ?? endpoint.defaultMessage(status), {
      retryAfterSeconds: retryAfterSeconds ?? undefined,
    });
  }
  const fails = (flaky > 0 && call.vendors.attemptsOf(prompt) <= flaky) || (errorAfter !== null && !streamed);
  if (fails) throw new SimulatedError(503, endpoint.defaultMessage(503));
}

function page(): Response {
  const html = "<!doctype html><html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>";
  return new Response(html, { headers: { "content-type": "text/html; charset=utf-8" } });
}

/** The endpoint whose replies have the token of the next request. */
function withTokens(endpoint: SimulatedEndpoint, token: string): SimulatedEndpoint {
  const add = (body: JsonObject) => endpoint.withToken?.(body, token) ?? body;
  const { format } = endpoint;
  return {
    ...endpoint,
    format: {
      ...format,
      writeReply: (reply, context) => {
        const written = format.writeReply(reply, context);
        return { ...written, body: add(written.body) };
      },
      eventWriter: (context) => {
        const writer = format.eventWriter(context);
        const write: EventWriter["write"] = (event) =>
          writer.write(event).map((frame) => ({ ...frame, data: JSON.stringify(add(JSON.parse(frame.data))) }));
        return { ...writer, write, fail: (error) => writer.fail(error) };
      },
    },
  };
}

function replyTo(
  request: GenerationRequest,
  endpoint: SimulatedEndpoint,
): { readonly reply: Reply; readonly token: string | null } {
  const { call, conversation, directives, model } = request;
  const followed = endpoint.neverReasons?.(model) ? { ...directives, reasoning: null } : directives;
  const whole = planReply(conversation, followed, () => endpoint.newCallId(call));
  const hop = endpoint.hopOf?.(whole, request) ?? null;
  const plan = hop?.plan ?? whole;
  const { parts, stop } = endpoint.partsOf(plan, request);
  const counted = usageOf(plan, request, endpoint);
  const served = hop ? { ...counted, freshTokens: counted.freshTokens + hop.tokensBefore } : counted;
  const { vendors: { bills, clock }, prefix } = call;
  bills.add({ vendor: prefix, model, usage: served, at: clock.now() });
  const reply = {
    id: endpoint.newReplyId(call),
    model,
    createdAt: Math.floor(call.vendors.clock.now() / 1000),
    parts,
    stop,
    usage: directives.noUsage ? null : served,
    unsupportedFields: [],
  };
  return { reply, token: hop?.token ?? null };
}

function usageOf(
  { reasoning, parts, search }: ReplyPlan,
  { call, conversation, model, cachedTokens = 0 }: GenerationRequest,
  endpoint: SimulatedEndpoint,
): Usage {
  const segments = segmentsOf(conversation);
  const scope = `${endpoint.format.name} ${model}`;
  const { promptCache } = call.vendors;
  const shares = promptCache.account(scope, segments, endpoint.cachedAt(model));
  const isOpenAi = endpoint.vendor === "openai";
  const { written5mTokens, written1hTokens } = shares;
  const readTokens = Math.max(shares.readTokens, cachedTokens);
  const reasoningTokens = reasoning === null ? 0 : tokensOf(reasoning.text);
  const searchTokens = search === null ? 0 : tokensOf(search.uncitedText + search.citedText);
  return {
    freshTokens: Math.max(0, promptTokensIn(segments) - readTokens - written5mTokens - written1hTokens),
    cacheReadTokens: readTokens,
    cacheWrite5mTokens: written5mTokens,
    cacheWrite1hTokens: written1hTokens,
    toolPromptTokens: 0,
    outputTokens: replyTokensOf(parts) + searchTokens + reasoningTokens,
    reasoningTokens,
    ...(isOpenAi && written5mTokens > 0 && { cacheWrite30mTokens: written5mTokens }),
    ...(search === null ? {} : { webSearches: 1 }),
  };
}

function contextOf({ model, call, body, conversation }: GenerationRequest, endpoint: SimulatedEndpoint): ReplyContext {
  return {
    model,
    requestId: call.requestId,
    createdAt: Math.floor(call.vendors.clock.now() / 1000),
    conversation,
    includeUsage: endpoint.reportsUsage(body),
  };
}

function wholeAnswer(reply: Reply, request: GenerationRequest, endpoint: SimulatedEndpoint): Response {
  const { directives, call } = request;
  const written = endpoint.format.writeReply(reply, contextOf(request, endpoint)).body;
  const body = directives.noUsage ? endpoint.withoutUsage(written) : written;
  const headers = endpoint.headersOf(call);
  const { cutAfter, closeAfter, truncates } = directives;
  if (cutAfter === null && closeAfter === null && !truncates) return jsonResponse(body, headers);
  const text = JSON.stringify(body);
  const half = text.slice(0, Math.ceil(text.length / 2));
  const chunks = [
    { kind: "frames" as const, frames: [{ event: null, data: half }] },
    { kind: "end" as const, how: cutAfter === null ? "close" as const : "cut" as const },
  ];
  const encoder = { encode: (frames: readonly Frame[]) => frames.map(({ data }) => data).join(""), end: () => "" };
  return bodyAnswer(chunks.values(), encoder, request, { ...headers, "content-type": "application/json" });
}

function streamAnswer(reply: Reply, request: GenerationRequest, endpoint: SimulatedEndpoint): Response {
  const writer = endpoint.format.eventWriter(contextOf(request, endpoint));
  const startUsage = endpoint.startsWithUsage && reply.usage ? { ...reply.usage, ...NO_OUTPUT } : null;
  const chunks = chunksOf([...eventsOf(reply, startUsage)], {
    write: (event) => {
      const frames = writer.write(event);
      return request.directives.noUsage ? frames.map((frame) => usagelessFrame(frame, endpoint)) : frames;
    },
    fail: () => endpoint.failureFrames(writer),
  }, request.directives);
  const headers = {
    ...endpoint.headersOf(request.call),
    "content-type": endpoint.streamType,
    "cache-control": "no-cache",
  };
  return bodyAnswer(chunks, endpoint.encoder(request), request, headers);
}

const NO_OUTPUT = { outputTokens: 0, reasoningTokens: 0 };

function usagelessFrame(frame: Frame, endpoint: SimulatedEndpoint): Frame {
  if (!frame.data.includes('"usage"')) return frame;
  return { ...frame, data: JSON.stringify(endpoint.withoutUsage(JSON.parse(frame.data))) };
}

function bodyAnswer(
  chunks: Parameters<typeof chunkStream>[0],
  encoder: FrameEncoder,
  { call }: GenerationRequest,
  headers: Readonly<Record<string, string>>,
): Response {
  const body = chunkStream(chunks, { encoder, clock: call.vendors.clock, onDisconnect: call.onDisconnect });
  return new Response(body, { headers });
}
