import { type Clock, waitAtMost } from "../../platform/lib/basics/clock.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import type { HttpClient } from "../../platform/net/http1/client.ts";
import { ConnectionError } from "../../platform/net/http1/connection_error.ts";
import { type HttpResponse, readAll } from "../../platform/net/http1/response.ts";
import { type Origin, originOf } from "../../platform/net/http1/wire_request.ts";
import { type Attribute, type Span, writeExport } from "./otlp.ts";

/** Options of {@linkcode SpanExporter}. */
export interface SpanExporterOptions {
  /** The collector's address for traces. */
  readonly endpoint: URL;
  /** Header lines of every export, each ended by CR LF. */
  readonly headerLines: string;
  /** What the spans belong to, such as `service.name`. */
  readonly resource: readonly Attribute[];
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly log: Log;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Spans that wait or are being exported. Further ones are dropped. */
const MAX_QUEUED = 8_192;
const MAX_BATCH = 512;
const INTERVAL_MS = 5_000;
const EXPORT_TIMEOUT_MS = 10_000;
const MAX_TRIES = 5;
const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;
const MAX_RETRY_AFTER_MS = 60_000;
const MAX_RESPONSE_BYTES = 65_536;
/** How long a stop waits for the last export. */
const CLOSE_MS = 5_000;
const LOG_INTERVAL_MS = 60_000;

/** How one try to export ended. */
type Outcome =
  | { readonly kind: "accepted"; readonly rejected: number }
  | { readonly kind: "retry"; readonly reason: string; readonly afterMs: number | null }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Sends spans to a collector over OTLP/HTTP in JSON, one batch at a time, beside the requests.
 *
 * ```text
 * add → queue (bounded) → batch (5 s or 512 spans) → accepted, retried with backoff, or dropped and counted
 * ```
 *
 * Source: the OTLP specification: 429, 502, 503, 504 and failed connections are retried, other failures are not.
 */
export class SpanExporter {
  /** The number of spans that the collector accepted. */
  exported = 0;
  /** The number of spans that were lost: beyond the queue, refused by the collector, or not accepted in time. */
  dropped = 0;
  #queue: Span[] = [];
  /** The spans of the batch under way. */
  #sending = 0;
  #running: Promise<void> | null = null;
  #isClosing = false;
  #stopTimer: (() => void) | null = null;
  #endWait: () => void = () => {};
  #cancelExport: () => void = () => {};
  #loggedAt = -Infinity;
  readonly #origin: Origin;
  readonly #path: string;

  constructor(readonly options: SpanExporterOptions) {
    const { endpoint } = options;
    this.#origin = originOf(endpoint);
    this.#path = endpoint.pathname + endpoint.search;
  }

  /** Queues spans. Never throws and never waits. */
  add(spans: readonly Span[]): void {
    const room = this.#isClosing ? 0 : MAX_QUEUED - this.#queue.length - this.#sending;
    for (let at = 0; at < spans.length; at++) {
      if (at < room) this.#queue.push(spans[at]!);
      else this.#drop(1, "the queue is full");
    }
    if (this.#running !== null || this.#queue.length === 0) return;
    if (this.#queue.length >= MAX_BATCH) return this.#start();
    this.#stopTimer ??= this.options.clock.after(INTERVAL_MS, () => this.#start());
  }

  /** Exports the queued spans, for at most five seconds. What is left is dropped. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#stopTimer?.();
    this.#endWait();
    if (this.#running === null && this.#queue.length > 0) this.#start();
    if (this.#running !== null) await waitAtMost(this.options.clock, CLOSE_MS, this.#running);
    this.#drop(this.#queue.length, "the gateway stopped");
    this.#queue = [];
    this.#cancelExport();
    await this.#running;
    this.options.client.close();
  }

  #start(): void {
    this.#stopTimer?.();
    this.#stopTimer = null;
    this.#running = this.#exportAll().finally(() => {
      this.#running = null;
      if (this.#queue.length > 0) this.add([]);
    });
  }

  /** Exports full batches, and at first also one that is not full. */
  async #exportAll(): Promise<void> {
    // Ends when less than a batch waits: the queue is limited, and each export waits for the collector.
    do {
      const batch = this.#queue.splice(0, MAX_BATCH);
      this.#sending = batch.length;
      await this.#exportBatch(batch);
      this.#sending = 0;
    } while (this.#queue.length >= (this.#isClosing ? 1 : MAX_BATCH));
  }

  async #exportBatch(spans: readonly Span[]): Promise<void> {
    const body = new TextEncoder().encode(writeExport(this.options.resource, spans));
    for (let tries = 1;; tries++) {
      const outcome = await this.#send(body);
      if (outcome.kind === "accepted") {
        const rejected = Math.min(outcome.rejected, spans.length);
        this.exported += spans.length - rejected;
        return this.#drop(rejected, "the collector rejected them");
      }
      if (outcome.kind === "refused" || tries === MAX_TRIES || this.#isClosing) {
        return this.#drop(spans.length, outcome.reason);
      }
      await this.#wait(outcome.afterMs ?? this.#backoffMs(tries));
    }
  }

  #backoffMs(tries: number): number {
    const jitter = 0.8 + 0.4 * this.options.random();
    return Math.min(FIRST_BACKOFF_MS * 2 ** (tries - 1), MAX_BACKOFF_MS) * jitter;
  }

  /** Resolves after the delay, or when the gateway stops. */
  async #wait(delayMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = this.options.clock.after(delayMs, resolve);
    this.#endWait = resolve;
    await promise;
    stop();
  }

  async #send(body: Uint8Array): Promise<Outcome> {
    const { client, clock, headerLines } = this.options;
    let isLate = false;
    let cancel = () => {};
    this.#cancelExport = () => cancel();
    const stop = clock.after(EXPORT_TIMEOUT_MS, () => {
      isLate = true;
      cancel();
    });
    try {
      const wire = { method: "POST", path: this.#path, headerLines, body, isRepeatable: true };
      const response = await client.send(this.#origin, wire, (abort) => cancel = abort);
      cancel = () => response.cancel();
      if (isLate) response.cancel();
      return await outcomeOf(response, clock);
    } catch (error) {
      if (isLate) return { kind: "retry", reason: "the collector did not respond in time", afterMs: null };
      const reason = error instanceof ConnectionError ? error.message : "the export failed";
      return { kind: "retry", reason, afterMs: null };
    } finally {
      stop();
    }
  }

  #drop(count: number, reason: string): void {
    if (count === 0) return;
    this.dropped += count;
    const now = this.options.clock.monotonicMs();
    if (now - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#loggedAt = now;
    this.options.log.warn("spans_dropped", { count: this.dropped, reason });
  }
}

const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);

async function outcomeOf(response: HttpResponse, clock: Clock): Promise<Outcome> {
  const { status, head } = response;
  if (status >= 200 && status <= 299) return { kind: "accepted", rejected: await rejectedBy(response) };
  response.cancel();
  const reason = `the collector responded with status ${status}`;
  if (!RETRIED.has(status)) return { kind: "refused", reason };
  return { kind: "retry", reason, afterMs: retryAfterMs(head.get("retry-after"), clock) };
}

/** The number in `partialSuccess` of the response; 0 for a response that cannot be read. */
async function rejectedBy(response: HttpResponse): Promise<number> {
  try {
    const bytes = await readAll(response, MAX_RESPONSE_BYTES);
    const rejected = Number(JSON.parse(new TextDecoder().decode(bytes)).partialSuccess?.rejectedSpans);
    return rejected > 0 ? Math.floor(rejected) : 0;
  } catch {
    return 0; // the status says that the spans were accepted
  }
}

/** `Retry-After` in milliseconds, at most a minute; null if it is missing or invalid. RFC 9110, 10.2.3. */
function retryAfterMs(value: string | null, clock: Clock): number | null {
  if (value === null) return null;
  const delayMs = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - clock.now();
  return Number.isNaN(delayMs) ? null : Math.min(Math.max(delayMs, 0), MAX_RETRY_AFTER_MS);
}
