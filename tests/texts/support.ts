import { unobservedRecord } from "../support/unobserved_record.ts";
import { PassRelay } from "../../src/services/texts/relay/pass_relay.ts";
import { NO_QUIRKS } from "../../src/conversation/contract/quirks.ts";
import type { Admission, Charge } from "../../src/money/billing/meter/meter.ts";
import { Settlement } from "../../src/services/calls/settlement.ts";
import type { Bytes, StreamTransform } from "../../src/services/calls/stream_relay.ts";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import { readModel } from "../../src/vendors/catalog/model.ts";
import { JoinedBytes } from "../../src/platform/lib/bytes/joined_bytes.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { ReplyEvent } from "../../src/conversation/neutral/events.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { NO_USAGE, type Usage } from "../../src/conversation/neutral/usage.ts";
import { encodeFrames } from "../../src/platform/lib/streams/sse.ts";
import { scanJson } from "../../src/platform/lib/json/json.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { createRedactor } from "../../src/platform/lib/text/redact.ts";
import type { TextMaximum } from "../../src/services/texts/plan/text_reservation.ts";
import type { TextAttempt, TextRequest } from "../../src/services/texts/plan/attempt.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import type { Outbound, OutboundResponse } from "../../src/vendors/upstreams/call/outbound_call.ts";
import type { Provider } from "../../src/vendors/upstreams/contract/provider.ts";
import type { TextEndpoint } from "../../src/vendors/upstreams/contract/upstream.ts";
import { replyContextOf } from "../support/conversations.ts";
import { CODECS } from "../support/formats.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";

/** A secret of the provider that no caller may see. */
export const PROVIDER_KEY = "key-of-the-provider";

/** The usage of a full reply's stream. */
export const USAGE: Usage = { ...NO_USAGE, freshTokens: 12, outputTokens: 30, reasoningTokens: 9 };

/** A reply with reasoning, text in several scripts and a call, as a vendor's stream. */
export const REPLY: readonly ReplyEvent[] = [
  { type: "start", id: "reply-1", model: "m", createdAt: 7, usage: { ...NO_USAGE, freshTokens: 12, outputTokens: 1 } },
  { type: "part-start", index: 0, part: { kind: "reasoning" } },
  { type: "part-delta", index: 0, text: "Überlegung — 考える" },
  { type: "part-end", index: 0 },
  { type: "part-start", index: 1, part: { kind: "text" } },
  { type: "part-delta", index: 1, text: "Grüße, 世界! " },
  { type: "part-delta", index: 1, text: 'Zwei\nZeilen, ein "Zitat" und 😀.' },
  { type: "part-end", index: 1 },
  { type: "part-start", index: 2, part: { kind: "tool_call", callId: "call_1", tool: "look" } },
  { type: "part-delta", index: 2, text: '{"ort":' },
  { type: "part-delta", index: 2, text: '"Köln"}' },
  { type: "part-end", index: 2 },
  { type: "finish", stop: { reason: "tool_calls", raw: null }, usage: USAGE },
];

/** Returns events as a format's vendor sends them: with usage, and with the given line ends. */
export function wireOf(form: CallerFormatName, events: readonly ReplyEvent[], lineEnd = "\n"): string {
  const writer = CODECS[form].caller.eventWriter(replyContextOf({ includeUsage: true }));
  const bytes = encodeFrames(events.flatMap((event) => writer.write(event)));
  return new TextDecoder().decode(bytes).replaceAll("\n", lineEnd);
}

/** Returns the smallest valid body of each format. */
export function bodyOf(form: CallerFormatName, fields: JsonObject = {}): JsonObject {
  const said = { role: "user", content: "Say something in any tongue" };
  const bodies: Record<CallerFormatName, JsonObject> = {
    chat: { model: "acme/m", messages: [said] },
    responses: { model: "acme/m", input: [said] },
    messages: { model: "acme/m", max_tokens: 100, messages: [said] },
    content: { contents: [{ role: "user", parts: [{ text: "Say something in any tongue" }] }] },
  };
  return { ...bodies[form], ...fields };
}

/** Creates a request as its protocol passes it on. `text` is the body as received, by default the JSON of `body`. */
export function requestOf(
  form: CallerFormatName,
  fields: Partial<TextRequest> & { readonly text?: string } = {},
): TextRequest {
  const { text, ...others } = fields;
  const sent = text === undefined ? fields.body ?? bodyOf(form) : JSON.parse(text) as JsonObject;
  const stream = fields.stream ?? sent.stream === true;
  const json = text ?? JSON.stringify(sent);
  const bytes = new TextEncoder().encode(json);
  const body = form === "content" && text === undefined ? { ...sent, model: "acme/m", stream } : sent;
  return {
    requestId: "req_1",
    accountId: "demo",
    keyId: "key_1",
    limits: null,
    receivedAt: 7_000,
    format: CODECS[form].caller,
    body,
    wholeBody: () => body,
    exactOf: (whole) => whole,
    wholeText: (each) => each,
    outlineText: json,
    bytes,
    scan: scanJson(bytes),
    model: "acme/m",
    stream,
    framing: "sse",
    headerPin: null,
    bodyPin: null,
    header: () => null,
    callerSignal: () => new AbortController().signal,
    memory: UNLIMITED_MEMORY.lease(),
    record: unobservedRecord(),
    ...others,
    ...text === undefined ? {} : { body: sent },
  };
}

/** Records what happens to an admitted call. */
export interface AdmissionRecorder {
  readonly admission: Admission;
  readonly charges: Charge[];
  releases: number;
  /** Ends the call as an overdrawn account does. */
  overdraw: () => void;
  /** Resolves when a charge is durable. Replace it to delay charges or make them fail. */
  durable: () => Promise<void>;
}

/** Creates an admission that records its charges and releases. */
export function admissionRecorder(): AdmissionRecorder {
  const recorder: AdmissionRecorder = {
    charges: [],
    releases: 0,
    overdraw: () => {},
    durable: () => Promise.resolve(),
    admission: {
      async charge(charge) {
        recorder.charges.push(charge);
        await recorder.durable();
      },
      release: () => void recorder.releases++,
      reserved: { amount: 0n, outputLimit: null },
      onOverdrawn: (listener) => void (recorder.overdraw = listener),
    },
  };
  return recorder;
}

/** Options of an attempt. */
export interface AttemptOptions {
  /** The vendor's format. Default: the caller's. */
  readonly vendor?: CallerFormatName;
  readonly request?: Partial<TextRequest> & { readonly text?: string };
  readonly recorder?: AdmissionRecorder;
  readonly outbound?: Outbound;
}

/** The model of all requests. */
const MODEL = readModel({
  id: "acme/m",
  serves: [{ provider: "acme" }],
  pricing: { prompt: "0.001", completion: "0.002" },
});

const CATALOG = createCatalog([MODEL]);

/** The measure of a request with the caller's own limit. */
const MEASURE: TextMaximum = {
  promptTokens: 100,
  cachedTokens: 0,
  pictures: 0,
  hostedTools: 0,
  searches: 0,
  outputTokens: 1_000,
  reasoningTokens: 0,
  choices: 1,
  limitField: null,
  isSizeKnown: true,
};

/** Creates an attempt to serve a request of a format at a provider named `acme`. */
export function attemptOf(
  form: CallerFormatName,
  { vendor = form, request, recorder = admissionRecorder(), outbound }: AttemptOptions = {},
): TextAttempt {
  const endpoint = endpointOf(vendor);
  const record = unobservedRecord();
  const facts = {
    kind: "text",
    requestId: "req_1",
    accountId: "demo",
    keyId: "key_1",
    model: MODEL,
    receivedAt: 7_000,
    record,
  } as const;
  const parts = { meter: { invalidate() {} }, clock: new ManualClock(), log: silentLog };
  return {
    request: requestOf(form, { stream: true, ...request }),
    model: MODEL,
    catalog: CATALOG,
    candidate: itemAt(MODEL.serves, 0),
    provider: providerOf("acme", [endpoint], outbound),
    endpoint,
    settlement: new Settlement(facts, recorder.admission, parts),
    measure: MEASURE,
    begunAt: 7_000,
  };
}

/** Creates the endpoint of a vendor with one format. */
export function endpointOf(form: CallerFormatName): TextEndpoint {
  return {
    format: CODECS[form].upstream,
    passThrough: CODECS[form].passThrough,
    path: (model, stream) => `/${form}/${model}/${stream}`,
    mustInline: () => false,
    counter: null,
  };
}

const REDACT = createRedactor([PROVIDER_KEY]);

/** Creates a provider with these text endpoints. */
export function providerOf(name: string, text: readonly TextEndpoint[], outbound: Outbound = NO_OUTBOUND): Provider {
  return {
    name,
    outbound,
    text,
    capabilities: {},
    redact: REDACT,
    quirks: NO_QUIRKS,
    streamFirstByteMs: 1_000,
    wholeFirstByteMs: 1_000,
  };
}

/** Creates an outbound that supports only `send`. */
export function outboundOf(send: Outbound["send"]): Outbound {
  const unused = () => {
    throw new Error("Only send() is expected to be called");
  };
  return { send, json: unused, failure: unused, pathOf: unused, siblingHost: unused, firstByteMs: 1_000 };
}

const NO_OUTBOUND = outboundOf(() => Promise.reject(new Error("Nothing is expected to be sent")));

/** A vendor's response, read by read. An error in place of a read is its failure. */
export interface FakeResponse extends OutboundResponse {
  readonly reads: number;
  readonly cancelled: boolean;
}

/** Creates a response that returns one chunk per read, then ends. A function returns its chunk when it is due. */
export function responseOf(
  pieces: readonly (string | Uint8Array<ArrayBuffer> | Error | (() => Promise<string | null>))[],
  mediaType = "text/event-stream",
  status = 200,
): FakeResponse {
  let reads = 0;
  let cancelled = false;
  let stopWaiting = () => {};
  const leaving = new Promise<null>((resolve) => stopWaiting = () => resolve(null));
  const stopped = () => new UpstreamFailure("acme", "cancelled", "told to stop", { status: null, accepted: "unknown" });
  return {
    status,
    mediaType,
    header: () => null,
    get reads() {
      return reads;
    },
    get cancelled() {
      return cancelled;
    },
    async read() {
      if (cancelled) return null;
      const piece = pieces[reads++] ?? null;
      if (piece instanceof Error) throw piece;
      const came = typeof piece === "function" ? await Promise.race([piece(), leaving]) : piece;
      if (cancelled) throw stopped();
      return typeof came === "string" ? new TextEncoder().encode(came) : came;
    },
    readNext(callbacks) {
      this.read().then(
        (bytes) => bytes === null ? callbacks.onEnd() : callbacks.onChunk(bytes),
        (error) => callbacks.onError(error),
      );
    },
    takeArrived: () => null,
    async readAll() {
      return (await this.readBody(Infinity)).joined();
    },
    async readBody() {
      const body = new JoinedBytes();
      for (let next = await this.read(); next !== null; next = await this.read()) body.add(next);
      return body;
    },
    cancel() {
      cancelled = true;
      stopWaiting();
    },
  };
}

/** Returns everything that a relay sends for a stream in these chunks. */
export async function relayAll(relay: StreamTransform, pieces: readonly Uint8Array<ArrayBuffer>[]): Promise<string> {
  const out: Bytes[] = [];
  try {
    for (const piece of pieces) {
      out.push(await relay.take(piece));
      if (relay.finished) return textOf(out);
    }
    out.push(await relay.end());
  } catch (thrown) {
    out.push(await relay.fail(thrown));
  }
  return textOf(out);
}

/** Decodes bytes as one text, without the cost in usage, which tests/e2e/stream_cost_test.ts is about. */
export function textOf(pieces: readonly Bytes[]): string {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const text = pieces.map((piece) => piece === null ? "" : decoder.decode(piece, { stream: true })).join("");
  return withoutCost(text + decoder.decode());
}

/** Removes the cost from usage in a stream. */
export function withoutCost(text: string): string {
  return text.replaceAll(/"cost":[\d.e-]+,?/g, "");
}

/** Splits a text's bytes at these relative positions, each from 0 to 1. */
export function cutAt(text: string, places: readonly number[]): Uint8Array<ArrayBuffer>[] {
  const bytes = new TextEncoder().encode(text);
  const cuts = [...new Set(places.map((place) => Math.floor(place * bytes.length)))].sort((a, b) => a - b);
  return [0, ...cuts].map((from, at) => bytes.slice(from, [...cuts, bytes.length][at])).filter(({ length }) =>
    length > 0
  );
}

/** Creates a relay for a passed-through stream. */
export function passRelayOf(attempt: TextAttempt): PassRelay {
  return new PassRelay(attempt, attempt.endpoint.passThrough!);
}
