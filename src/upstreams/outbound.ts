import type { VendorError } from "../conversation/codec.ts";
import type { Clock } from "../lib/clock.ts";
import type { Redactor } from "../lib/redact.ts";
import { type HttpClient, type HttpResponse, readAll } from "../net/http1/client.ts";
import { ConnectionError, type Origin } from "../net/http1/connection.ts";
import { failureKindOf, UpstreamFailure } from "./failure.ts";

/** One request to a vendor. */
export interface OutboundCall {
  readonly method: "GET" | "POST" | "DELETE";
  /** Below the provider's base address, with query. */
  readonly path: string;
  /** Fields beside the provider's own, such as a vendor's feature flags that the caller sent. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  /** Longest wait for the head of the response. */
  readonly firstByteMs: number;
  /** Gives the signal that fires when the caller leaves; asked only of calls that last, because asking costs. */
  readonly callerSignal: (() => AbortSignal) | null;
  /** Reads an error body of the endpoint's form. */
  readError(body: unknown): VendorError;
}

/** The way out to one provider: address, key, deadlines. Every failure is an {@linkcode UpstreamFailure}. */
export interface Outbound {
  /** Sends a request; resolves only with a 2xx, whose body the caller must read or cancel. */
  send(call: OutboundCall): Promise<OutboundResponse>;
}

/** A 2xx whose silence is watched. */
export interface OutboundResponse {
  readonly status: number;
  /** The media type without parameters, in lower case. */
  readonly mediaType: string;
  /** A header field of the answer by its lower-case name. */
  header(name: string): string | null;
  /** As `HttpResponse.read`; throws {@linkcode UpstreamFailure} instead. */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
  readAll(capBytes: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Stops the vendor's work as far as closing the connection does. */
  cancel(): void;
}

/** What an outbound needs to know of its provider. */
export interface OutboundOptions {
  readonly provider: string;
  readonly baseUrl: URL;
  readonly origin: Origin;
  readonly headers: Readonly<Record<string, string>>;
  /** Longest silence within a response. */
  readonly idleMs: number;
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly redact: Redactor;
}

const PATIENCE_BEFORE_WATCHING_MS = 250;
const ERROR_BODY_CAP_BYTES = 262_144;
const ERROR_BODY_MS = 10_000;

/** Opens the way out to a provider. */
export function createOutbound(options: OutboundOptions): Outbound {
  const fixed = headerLinesOf({
    "content-type": "application/json",
    "accept-encoding": "identity",
    "user-agent": "switchyard",
    ...options.headers,
  });
  const prefix = options.baseUrl.pathname.replace(/\/+$/, "");
  return {
    async send(call) {
      const watch = new Watch(options.clock, call.firstByteMs, call.callerSignal);
      const wire = {
        method: call.method,
        path: prefix + call.path,
        headerLines: fixed + headerLinesOf(call.headers),
        body: call.body,
      };
      try {
        const response = await options.client.send(options.origin, wire, (cancel) => watch.start(cancel));
        return await accept(response, call, options, watch);
      } catch (error) {
        watch.stop();
        throw failureOf(error, options, watch);
      }
    },
  };
}

async function accept(response: HttpResponse, call: OutboundCall, options: OutboundOptions, watch: Watch) {
  if (response.status < 200 || response.status > 299) {
    watch.arm(ERROR_BODY_MS);
    const bytes = await readAll(response, ERROR_BODY_CAP_BYTES).catch(() => new Uint8Array(0));
    throw refusalOf(response, bytes, call, options);
  }
  const coding = response.head.get("content-encoding");
  if (coding !== null && coding !== "identity") {
    response.cancel();
    throw new UpstreamFailure(
      options.provider,
      "broken",
      messageOf(options, "answered in a coding it was not asked for"),
      {
        status: response.status,
        accepted: "unknown",
      },
    );
  }
  watch.arm(options.idleMs);
  return new WatchedResponse(response, options, watch);
}

class WatchedResponse implements OutboundResponse {
  readonly status: number;
  readonly mediaType: string;

  constructor(readonly response: HttpResponse, readonly options: OutboundOptions, readonly watch: Watch) {
    this.status = response.status;
    this.mediaType = (response.head.get("content-type") ?? "").split(";", 1)[0].trim().toLowerCase();
  }

  header(name: string): string | null {
    return this.response.head.get(name);
  }

  async read(): Promise<Uint8Array<ArrayBuffer> | null> {
    try {
      this.watch.touch();
      const bytes = await this.response.read();
      if (bytes === null) this.watch.stop();
      return bytes;
    } catch (error) {
      this.watch.stop();
      throw failureOf(error, this.options, this.watch);
    }
  }

  async readAll(capBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    try {
      return await readAll({ ...this.#readable(), status: this.status, head: this.response.head }, capBytes);
    } catch (error) {
      throw failureOf(error, this.options, this.watch);
    } finally {
      this.watch.stop();
    }
  }

  cancel(): void {
    this.watch.stop();
    this.response.cancel();
  }

  #readable() {
    return {
      read: () => {
        this.watch.touch();
        return this.response.read();
      },
      cancel: () => this.response.cancel(),
    };
  }
}

/**
 * Watches one exchange: silence beyond a span, and the caller leaving. One timer serves all: it wakes when the span could
 * be over, looks when bytes came last, and sleeps on.
 */
class Watch {
  /** Why the exchange was cancelled, null if it was not. */
  verdict: "timeout" | "caller_left" | null = null;
  #cancel: () => void = () => {};
  #stopTimer: () => void = () => {};
  #stopListening: () => void = () => {};
  #silentSince: number;

  constructor(
    readonly clock: Clock,
    private spanMs: number,
    readonly callerSignal: (() => AbortSignal) | null,
  ) {
    this.#silentSince = clock.now();
  }

  /** Begins; `cancel` ends the exchange. */
  start(cancel: () => void): void {
    this.#cancel = cancel;
    this.#sleep(Math.min(this.spanMs, PATIENCE_BEFORE_WATCHING_MS));
  }

  /** The exchange lives: the silence counts anew. */
  touch(): void {
    this.#silentSince = this.clock.now();
  }

  /** From now on another span is the longest silence. */
  arm(spanMs: number): void {
    this.spanMs = spanMs;
    this.touch();
  }

  stop(): void {
    this.#stopTimer();
    this.#stopListening();
  }

  #sleep(ms: number): void {
    this.#stopTimer = this.clock.after(ms, () => this.#look());
  }

  #look(): void {
    const left = this.#silentSince + this.spanMs - this.clock.now();
    if (left <= 0) return this.#end("timeout");
    this.#listen();
    if (this.verdict === null) this.#sleep(left);
  }

  #listen(): void {
    const signal = this.callerSignal?.();
    if (!signal) return;
    if (signal.aborted) return this.#end("caller_left");
    this.#stopListening();
    const leave = () => this.#end("caller_left");
    signal.addEventListener("abort", leave);
    this.#stopListening = () => signal.removeEventListener("abort", leave);
  }

  #end(verdict: "timeout" | "caller_left"): void {
    this.verdict ??= verdict;
    this.stop();
    this.#cancel();
  }
}

function refusalOf(response: HttpResponse, bytes: Uint8Array, call: OutboundCall, options: OutboundOptions) {
  const text = new TextDecoder().decode(bytes);
  const said = call.readError(parsedOrNull(text));
  const badKey = response.status === 400 && text.includes("API_KEY_INVALID");
  const fallback = messageOf(options, `answered ${response.status}`);
  return new UpstreamFailure(
    options.provider,
    badKey ? "auth" : failureKindOf(response.status),
    said.message === "" ? fallback : options.redact(said.message),
    {
      status: response.status,
      accepted: "no",
      retryAfterSeconds: retryAfterOf(response) ?? said.retryAfterSeconds ?? undefined,
      vendorCode: said.code === null ? undefined : options.redact(said.code),
      field: said.field ?? undefined,
    },
  );
}

function failureOf(error: unknown, options: OutboundOptions, watch: Watch): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  const fail = (kind: UpstreamFailure["kind"], what: string, accepted: "no" | "unknown") =>
    new UpstreamFailure(options.provider, kind, messageOf(options, what), { status: null, accepted, cause: error });
  if (watch.verdict === "timeout") return fail("timeout", "did not answer in time", "unknown");
  if (watch.verdict === "caller_left") return fail("cancelled", "was told to stop", "unknown");
  if (!(error instanceof ConnectionError)) return fail("broken", "could not be read", "unknown");
  switch (error.kind) {
    case "connect":
      return fail("unreachable", "could not be reached", "no");
    case "closed":
      return fail("unreachable", "closed the connection early", "unknown");
    case "protocol":
      return fail("broken", "sent an answer that cannot be read", "unknown");
    case "cancelled":
      return fail("cancelled", "was told to stop", "unknown");
  }
}

function messageOf(options: OutboundOptions, what: string): string {
  return `Provider "${options.provider}" ${what}`;
}

/** `Retry-After` as seconds or as a date (RFC 9110, 10.2.3), at most an hour. */
function retryAfterOf(response: HttpResponse): number | null {
  const value = response.head.get("retry-after");
  if (value === null) return null;
  const seconds = /^\d{1,9}$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - Date.now()) / 1000);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 1), 3600) : null;
}

function headerLinesOf(headers: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const [name, value] of Object.entries(headers)) {
    // A value with a line end would start a field of its own.
    if (/[\r\n\0]/.test(value)) throw new TypeError(`Cannot send header "${name}": control characters in its value`);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
