import { createParser } from "eventsource-parser";
import { apiAddress, sendForResponse } from "../../api.ts";
import type { WrittenRequest } from "./conversation.ts";
import { parsedJson } from "../../json.ts";
import { callerFields } from "./payer.ts";

/** An event of a stream as it came. */
export interface RawEvent {
  /** Milliseconds after the request was sent. */
  readonly atMs: number;
  /** Empty for events without a name. */
  readonly name: string;
  readonly data: string;
}

/** What is known about a request besides its answer. */
export interface Exchange {
  requestId: string | null;
  provider: string | null;
  servedModel: string | null;
  /** The fields that the vendor did not get. */
  dropped: readonly string[];
  /** US dollars, of an answer that is not a stream. */
  cost: number | null;
  /** Milliseconds until the first byte of the body; null until then. */
  firstByteMs: number | null;
  /** Milliseconds until the end; null until then. */
  totalMs: number | null;
  /** The first ones. */
  readonly events: RawEvent[];
  /** How many followed those that are kept. */
  furtherEvents: number;
}

/** The events of a stream that are kept. */
const MAX_EVENTS = 5_000;

/** A request that has not been sent. */
export function newExchange(): Exchange {
  return {
    requestId: null,
    provider: null,
    servedModel: null,
    dropped: [],
    cost: null,
    firstByteMs: null,
    totalMs: null,
    events: [],
    furtherEvents: 0,
  };
}

/** Takes the header fields of a response. */
function takeHead(exchange: Exchange, { headers }: Pick<Response, "headers">): void {
  exchange.requestId = headers.get("x-service-request-id");
  exchange.provider = headers.get("x-service-provider");
  exchange.servedModel = headers.get("x-service-model");
  exchange.dropped = headers.get("x-service-dropped")?.split(/,\s*/) ?? [];
  const cost = headers.get("x-service-cost");
  exchange.cost = cost === null ? null : Number(cost);
}

/** Adds an event. Those above the limit are counted. */
export function addEvent(exchange: Exchange, event: RawEvent): void {
  if (exchange.events.length < MAX_EVENTS) exchange.events.push(event);
  else exchange.furtherEvents++;
}

/** Options of {@linkcode stream}. */
export interface StreamOptions {
  readonly signal: AbortSignal;
  /** Is filled while the answer arrives. */
  readonly exchange: Exchange;
  /** Takes the JSON of each event. */
  readonly onEvent: (data: unknown) => void;
}

/**
 * Sends a request, and reads its stream to the end. An answer that is no stream is one event.
 *
 * @throws {ApiError}
 * @throws {DOMException} `AbortError` by the signal.
 */
export async function stream({ path, body }: WrittenRequest, options: StreamOptions): Promise<void> {
  const { signal, exchange, onEvent } = options;
  const started = performance.now();
  const elapsed = () => performance.now() - started;
  const take = (name: string, data: string) => {
    addEvent(exchange, { atMs: elapsed(), name, data });
    const parsed = parsedJson(data);
    if (parsed !== null) onEvent(parsed);
  };
  const parser = createParser({ onEvent: ({ event = "", data }) => take(event, data) });
  try {
    const response = await sendForResponse(apiAddress(path), {
      method: "POST",
      headers: { ...callerFields(), "content-type": "application/json", "anthropic-version": "2023-06-01" },
      body: JSON.stringify(body),
      signal,
    });
    takeHead(exchange, response);
    if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
      exchange.firstByteMs = elapsed();
      return take("", await response.text());
    }
    const text = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await text?.read(); piece !== undefined && !piece.done; piece = await text?.read()) {
      exchange.firstByteMs ??= elapsed();
      parser.feed(piece.value);
    }
    parser.reset({ consume: true });
  } finally {
    exchange.totalMs = elapsed();
  }
}

/** A request whose answer is JSON. */
export interface JsonCall {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** JSON or a form; null for none. */
  readonly body: string | FormData | null;
  /** Default: those of the session and the payer. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/**
 * Sends a request, and reads its JSON.
 *
 * @throws {ApiError}
 * @throws {DOMException} `AbortError` by the signal.
 */
export async function callJson(call: JsonCall, exchange: Exchange): Promise<unknown> {
  const { method, path, body, fields = callerFields(), signal = null } = call;
  const started = performance.now();
  const type = typeof body === "string" ? { "content-type": "application/json" } : {};
  try {
    const response = await sendForResponse(apiAddress(path), { method, headers: { ...fields, ...type }, body, signal });
    takeHead(exchange, response);
    exchange.firstByteMs = performance.now() - started;
    const text = await response.text();
    addEvent(exchange, { atMs: performance.now() - started, name: "", data: text });
    return parsedJson(text);
  } finally {
    exchange.totalMs = performance.now() - started;
  }
}
