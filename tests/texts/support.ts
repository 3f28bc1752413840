import { PassRelay } from "../../src/texts/pass_relay.ts";
import { NO_QUIRKS } from "../../src/conversation/quirks.ts";
import type { Admission, Charge } from "../../src/billing/meter.ts";
import { Settlement } from "../../src/calls/settlement.ts";
import type { Bytes, Relay } from "../../src/calls/stream_relay.ts";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { readModel } from "../../src/catalog/model.ts";
import type { JsonObject } from "../../src/lib/json_object.ts";
import type { ReplyEvent } from "../../src/conversation/events.ts";
import type { CallerFormatName } from "../../src/conversation/reasoning_signature.ts";
import { NO_USAGE, type Usage } from "../../src/conversation/usage.ts";
import { encodeFrames } from "../../src/lib/sse.ts";
import { scanJson } from "../../src/lib/json.ts";
import { silentLog } from "../../src/lib/log.ts";
import { createRedactor } from "../../src/lib/redact.ts";
import type { TextMeasure } from "../../src/texts/text_reservation.ts";
import type { TextAttempt, TextRequest } from "../../src/texts/attempt.ts";
import { UpstreamFailure } from "../../src/upstreams/failure.ts";
import type { Outbound, OutboundResponse } from "../../src/upstreams/outbound_call.ts";
import type { Provider } from "../../src/upstreams/provider.ts";
import type { TextEndpoint } from "../../src/upstreams/upstream.ts";
import { replyContextOf } from "../support/conversations.ts";
import { CODECS } from "../support/formats.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { UNLIMITED_MEMORY } from "../../src/lib/memory_budget.ts";

/** A secret of the provider's, which no caller may see. */
export const PROVIDER_KEY = "key-of-the-provider";

/** What a full reply's stream consumes. */
export const USAGE: Usage = { ...NO_USAGE, freshTokens: 12, outputTokens: 30, reasoningTokens: 9 };

/** A reply with a thought, text in several scripts and a call, as a vendor's stream tells it. */
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

/** Events as a form's vendor sends them: with usage, and with lines that end as given. */
export function wireOf(form: CallerFormatName, events: readonly ReplyEvent[], lineEnd = "\n"): string {
  const writer = CODECS[form].caller.eventWriter(replyContextOf({ includeUsage: true }));
  const bytes = encodeFrames(events.flatMap((event) => writer.write(event)));
  return new TextDecoder().decode(bytes).replaceAll("\n", lineEnd);
}

/** The smallest body that each form allows. */
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

/** A turn as its protocol hands it over; `text` is the body as it came, by default the JSON of `body`. */
export function requestOf(
  form: CallerFormatName,
  fields: Partial<TextRequest> & { readonly text?: string } = {},
): TextRequest {
  const { text, ...others } = fields;
  const sent = text === undefined ? fields.body ?? bodyOf(form) : JSON.parse(text) as JsonObject;
  const stream = fields.stream ?? sent.stream === true;
  const bytes = new TextEncoder().encode(text ?? JSON.stringify(sent));
  return {
    requestId: "req_1",
    accountId: "demo",
    receivedAt: 7_000,
    format: CODECS[form].caller,
    body: form === "content" ? { ...sent, model: "acme/m", stream } : sent,
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
    ...others,
    ...text === undefined ? {} : { body: sent },
  };
}

/** What an admitted call came to. */
export interface AdmissionRecorder {
  readonly admission: Admission;
  readonly charges: Charge[];
  releases: number;
  /** Ends the call as an account does that is overdrawn too far. */
  overdraw: () => void;
  /** Resolves when a charge is durable; replace it to make charges wait or fail. */
  durable: () => Promise<void>;
}

/** An admission that notes what is done with it. */
export function admissionRecorder(): AdmissionRecorder {
  const till: AdmissionRecorder = {
    charges: [],
    releases: 0,
    overdraw: () => {},
    durable: () => Promise.resolve(),
    admission: {
      async charge(charge) {
        till.charges.push(charge);
        await till.durable();
      },
      release: () => void till.releases++,
      reserved: { amount: 0n, outputLimit: null },
      onOverdrawn: (listener) => void (till.overdraw = listener),
    },
  };
  return till;
}

/** What a test can choose of an attempt. */
export interface AttemptOptions {
  /** The vendor's form. Default: the caller's. */
  readonly vendor?: CallerFormatName;
  readonly request?: Partial<TextRequest> & { readonly text?: string };
  readonly recorder?: AdmissionRecorder;
  readonly outbound?: Outbound;
}

/** The model of all turns. */
const MODEL = readModel({
  id: "acme/m",
  serves: [{ provider: "acme" }],
  pricing: { prompt: "0.001", completion: "0.002" },
});

/** Of a turn whose limit the caller set. */
const MEASURE: TextMeasure = {
  promptTokens: 100,
  cachedTokens: 0,
  pictures: 0,
  hostedTools: 0,
  searches: 0,
  outputTokens: 1_000,
  reasoningTokens: 0,
  choices: 1,
  limitField: null,
  isCarried: true,
};

/** A turn of a form on its way to a provider named `acme`. */
export function attemptOf(
  form: CallerFormatName,
  { vendor = form, request: turn, recorder: till = admissionRecorder(), outbound }: AttemptOptions = {},
): TextAttempt {
  const endpoint = endpointOf(vendor);
  const facts = { kind: "text", requestId: "req_1", accountId: "demo", model: MODEL, receivedAt: 7_000 } as const;
  const parts = { meter: { invalidate() {} }, clock: new ManualClock(), log: silentLog };
  return {
    turn: requestOf(form, { stream: true, ...turn }),
    model: MODEL,
    catalog: createCatalog([MODEL]),
    candidate: itemAt(MODEL.serves, 0),
    provider: providerOf("acme", [endpoint], outbound),
    endpoint,
    settlement: new Settlement(facts, till.admission, parts),
    measure: MEASURE,
  };
}

/** Where a vendor speaks one form. */
export function endpointOf(form: CallerFormatName): TextEndpoint {
  return {
    format: CODECS[form].upstream,
    passThrough: CODECS[form].passThrough,
    path: (model, stream) => `/${form}/${model}/${stream}`,
    mustInline: () => false,
    counter: null,
  };
}

/** A provider that talks text there. */
export function providerOf(name: string, text: readonly TextEndpoint[], outbound: Outbound = NO_OUTBOUND): Provider {
  return {
    name,
    outbound,
    text,
    images: null,
    videos: null,
    redact: createRedactor([PROVIDER_KEY]),
    quirks: NO_QUIRKS,
    streamFirstByteMs: 1_000,
    wholeFirstByteMs: 1_000,
  };
}

/** An outbound of which only `send` is of use. */
export function outboundOf(send: Outbound["send"]): Outbound {
  const unused = () => {
    throw new Error("Only send() is expected to be called");
  };
  return { send, json: unused, failure: unused, pathOf: unused, siblingHost: unused, firstByteMs: 1_000 };
}

const NO_OUTBOUND = outboundOf(() => Promise.reject(new Error("Nothing is expected to be sent")));

/** A vendor's answer read by read; what is thrown in the place of a read is its failure. */
export interface FakeResponse extends OutboundResponse {
  readonly reads: number;
  readonly cancelled: boolean;
}

/** An answer that gives these pieces, one a read, and then ends; a function gives its piece when it is due. */
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
    async readAll() {
      const parts: Uint8Array[] = [];
      for (let next = await this.read(); next !== null; next = await this.read()) parts.push(next);
      return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
    },
    cancel() {
      cancelled = true;
      stopWaiting();
    },
  };
}

/** Everything that a relay makes of a stream in these pieces. */
export async function relayAll(relay: Relay, pieces: readonly Uint8Array<ArrayBuffer>[]): Promise<string> {
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

/** Bytes as one text. */
export function textOf(pieces: readonly Bytes[]): string {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  return pieces.map((piece) => piece === null ? "" : decoder.decode(piece, { stream: true })).join("") +
    decoder.decode();
}

/** A text's bytes, cut at these places of the whole, each from 0 to 1. */
export function cutAt(text: string, places: readonly number[]): Uint8Array<ArrayBuffer>[] {
  const bytes = new TextEncoder().encode(text);
  const cuts = [...new Set(places.map((place) => Math.floor(place * bytes.length)))].sort((a, b) => a - b);
  return [0, ...cuts].map((from, at) => bytes.slice(from, [...cuts, bytes.length][at])).filter(({ length }) =>
    length > 0
  );
}

/** A relay for a stream that passes through. */
export function passRelayOf(attempt: TextAttempt): PassRelay {
  return new PassRelay(attempt, attempt.endpoint.passThrough!);
}
