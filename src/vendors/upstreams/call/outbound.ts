import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { textHasMoreValuesThan } from "../../../platform/lib/json/json_values.ts";
import { essenceOf } from "../../../platform/lib/media/content_type.ts";
import { GatewayError, gatewayErrorOf } from "../../../platform/lib/basics/gateway_error.ts";
import type { JoinedBytes } from "../../../platform/lib/bytes/joined_bytes.ts";
import { chain, type MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { Redactor } from "../../../platform/lib/text/redact.ts";
import { traceLines } from "../../../platform/lib/tracing/trace_scope.ts";
import { TurnPace } from "../../../platform/lib/streams/turn_pace.ts";
import type { HttpClient } from "../../../platform/net/http1/client.ts";
import { wheelOf } from "../../../platform/net/deadline.ts";
import {
  type ConnectionCause,
  connectionCauseOf,
  ConnectionError,
} from "../../../platform/net/http1/connection_error.ts";
import { headerLinesOf } from "../../../platform/net/http1/header_lines.ts";
import {
  type HttpResponse,
  readAll,
  readBody,
  type ReadCallbacks,
  readOnce,
} from "../../../platform/net/http1/response.ts";
import { hostFieldOf, type Origin, originOf } from "../../../platform/net/http1/wire_request.ts";
import { partsOf } from "../../../platform/net/http1/sent_body.ts";
import type { HeaderFields, Rejection, RequestToAuthorize } from "./authorization.ts";
import { ExchangeWatch } from "./exchange_watch.ts";
import { isCredentialRejected } from "./rejected_credential.ts";
import { type FailureFacts, type FailureKind, failureKindOf, isBalanceExhausted, UpstreamFailure } from "./failure.ts";
import { CAUSE_TEXTS } from "./connection_cause.ts";
import { isStreamedBody, watchedBody } from "./outbound_body.ts";
import type { Outbound, OutboundCall, OutboundResponse } from "./outbound_call.ts";
import { exchangeJson } from "./outbound_json.ts";
import { vendorRequestIdOf } from "./vendor_request_id.ts";

/** The parts and settings of a provider's outbound client. */
export interface OutboundOptions {
  readonly provider: string;
  readonly baseUrl: URL;
  readonly origin: Origin;
  /** Sent with every request. */
  readonly headers: HeaderFields;
  /** Sent with every request that replaces them with no other value. Default: none. */
  readonly defaults?: HeaderFields;
  /** Returns the header fields that authorize a request. Default: none. */
  readonly authorize?: (request: RequestToAuthorize) => MaybePromise<HeaderFields>;
  /**
   * Called when the vendor answers with 401 or 403. Returns whether the request is authorized and sent once more.
   * Default: it is not.
   */
  readonly onRejected?: (rejection: Rejection) => boolean;
  /** The maximum silence within a response. */
  readonly idleMs: number;
  /** The time limit for the response head when it arrives only after the work is done. */
  readonly firstByteMs: number;
  readonly client: HttpClient;
  readonly clock: Clock;
  readonly redact: Redactor;
}

const JSON_LINE = "content-type: application/json\r\n";
const MAX_ERROR_BODY_BYTES = 262_144;
const MAX_ERROR_VALUES = 20_000;
const ERROR_BODY_TIMEOUT_MS = 10_000;

/**
 * Creates the outbound client of a provider.
 *
 * @throws {GatewayError} If a configured header value is not valid.
 */
export function createOutbound(options: OutboundOptions): Outbound {
  const fixedLines = headerLinesOf({
    "accept-encoding": "identity",
    "user-agent": "switchyard",
    ...options.headers,
  });
  const defaults = options.defaults ?? {};
  const defaultLines = headerLinesOf(defaults);
  const defaultLinesFor = ({ replaced }: OutboundCall): string => {
    if (replaced === undefined) return defaultLines;
    const known = Object.entries(replaced).filter(([name]) => Object.hasOwn(defaults, name));
    return headerLinesOf({ ...defaults, ...Object.fromEntries(known) });
  };
  const authorizationFor = options.authorize && authorizer(options.authorize);
  const prefix = options.baseUrl.pathname.replace(/\/+$/, "");
  const wheel = wheelOf(options.clock);
  const host = hostFieldOf(options.origin);

  const authorized = (call: OutboundCall, now: number): MaybePromise<Authorization> =>
    authorizationFor?.({
      method: call.method,
      path: prefix + call.path,
      host,
      parts: () => isStreamedBody(call.body) ? [] : partsOf(call.body),
      now,
    }) ?? UNAUTHORIZED;

  const exchange = async (call: OutboundCall, given?: Authorization): Promise<OutboundResponse> => {
    const { lines } = given ?? await authorized(call, options.clock.now());
    const streamed = isStreamedBody(call.body) ? call.body : null;
    const contentType = streamed === null ? JSON_LINE : headerLinesOf({ "content-type": streamed.contentType });
    const headerLines = fixedLines + defaultLinesFor(call) + lines + contentType + headerLinesOf(call.headers) +
      traceLines();
    const watch = new ExchangeWatch(wheel, call.firstByteMs, call.callerSignal);
    const wire = {
      method: call.method,
      path: prefix + call.path,
      headerLines,
      body: isStreamedBody(call.body) ? watchedBody(call.body, () => watch.onReadStart()) : call.body,
      freshConnection: call.freshConnection ?? false,
    };
    try {
      const response = await options.client.send(options.origin, wire, (cancel) => watch.start(cancel));
      if (isPage(response)) response.closeAfter();
      if (!isAccepted(response, call)) throw await refusalOf(response, call, options, watch);
      refuseContentCoding(response, options);
      watch.setLimit(call.idleMs ?? options.idleMs);
      return new WatchedResponse(response, options, watch);
    } catch (error) {
      watch.stop();
      throw failureOf(error, options, watch);
    }
  };

  /** Sends a request once more that is rejected, if it can be authorized in another way. */
  const exchangeTwice = async (
    call: OutboundCall,
    onRejected: NonNullable<OutboundOptions["onRejected"]>,
  ): Promise<OutboundResponse> => {
    const now = options.clock.now();
    const authorization = await authorized(call, now);
    try {
      return await exchange(call, authorization);
    } catch (error) {
      const rejection = rejectionOf(error, authorization, now);
      if (rejection === null || !onRejected(rejection)) throw error;
    }
    return await exchange(call);
  };

  const outbound: Outbound = {
    firstByteMs: options.firstByteMs,
    json: (method, path, body, read, extras = {}) =>
      exchangeJson(outbound, { method, path, body, read, options: extras }),
    failure: (kind, vendorMessage, facts = {}) => reportedFailureOf(kind, vendorMessage, facts, options),
    pathOf: (address) => pathBelow(options.baseUrl.origin, prefix, address),
    siblingHost(address, domains) {
      const url = URL.parse(address);
      if (url === null || !isSibling(url, options.baseUrl, domains)) return null;
      const baseUrl = new URL(url.origin);
      const sibling = createOutbound({ ...options, baseUrl, origin: originOf(baseUrl) });
      return { outbound: sibling, path: url.pathname + url.search };
    },
    send: (call) => options.onRejected === undefined ? exchange(call) : exchangeTwice(call, options.onRejected),
  };
  return outbound;
}

/** The header fields that authorize a request, and the lines that they are sent as. */
interface Authorization {
  readonly fields: HeaderFields;
  readonly lines: string;
}

const UNAUTHORIZED: Authorization = { fields: {}, lines: "" };

/** Lines are reused while `authorize` returns the same object. */
function authorizer(authorize: NonNullable<OutboundOptions["authorize"]>) {
  let last = UNAUTHORIZED;
  const authorizationWith = (fields: HeaderFields): Authorization => {
    if (last.fields !== fields) last = { fields, lines: headerLinesOf(fields) };
    return last;
  };
  return (request: RequestToAuthorize): MaybePromise<Authorization> => chain(authorize(request), authorizationWith);
}

/** The rejection that a failed request reports; null for another failure. */
function rejectionOf(error: unknown, { fields }: Authorization, now: number): Rejection | null {
  if (!(error instanceof UpstreamFailure)) return null;
  const { status, vendorCode = null, vendorTime = null } = error.facts;
  return status === 401 || status === 403 ? { fields, status, code: vendorCode, vendorTime, now } : null;
}

function isAccepted(response: HttpResponse, call: OutboundCall): boolean {
  const { status } = response;
  if (status >= 200 && status <= 299) return true;
  return call.acceptsRedirect === true && status >= 300 && status < 400 && response.head.get("location") !== null;
}

/** Whether a response is a page, which no API sends. It comes from another server on the way to the vendor. */
function isPage({ head }: HttpResponse): boolean {
  return essenceOf(head.get("content-type") ?? "") === "text/html";
}

/** @throws {UpstreamFailure} If the body is compressed. */
function refuseContentCoding(response: HttpResponse, options: OutboundOptions): void {
  const coding = response.head.get("content-encoding");
  if (coding === null || coding.toLowerCase() === "identity") return;
  response.cancel();
  const message = messageOf(options, 'returned a "content-encoding" that was not requested');
  throw new UpstreamFailure(options.provider, "broken", message, { status: response.status, accepted: "unknown" });
}

class WatchedResponse implements OutboundResponse, ReadCallbacks {
  readonly status: number;
  readonly mediaType: string;
  #callbacks: ReadCallbacks | null = null;
  /** Of reads by promises. */
  #pace: TurnPace | null = null;

  constructor(readonly response: HttpResponse, readonly options: OutboundOptions, readonly watch: ExchangeWatch) {
    this.status = response.status;
    this.mediaType = essenceOf(response.head.get("content-type") ?? "");
  }

  header(name: string): string | null {
    return this.response.head.get(name);
  }

  read(): Promise<Uint8Array<ArrayBuffer> | null> {
    return readOnce(this, this.#pace ??= new TurnPace());
  }

  readNext(callbacks: ReadCallbacks): void {
    this.#callbacks = callbacks;
    this.watch.onReadStart();
    this.response.readNext(this);
  }

  onChunk(bytes: Uint8Array<ArrayBuffer>): void {
    this.watch.onReadEnd();
    this.#callbacks?.onChunk(bytes);
  }

  onEnd(): void {
    this.watch.stop();
    this.#callbacks?.onEnd();
  }

  onError(error: unknown): void {
    this.watch.stop();
    this.#callbacks?.onError(failureOf(error, this.options, this.watch, this.status));
  }

  takeArrived(): Uint8Array<ArrayBuffer> | null {
    try {
      const arrived = this.response.takeArrived();
      if (arrived !== null) this.watch.stop();
      return arrived;
    } catch (error) {
      this.watch.stop();
      throw failureOf(error, this.options, this.watch, this.status);
    }
  }

  async readAll(capBytes: number, reserve?: (bytes: number) => void): Promise<Uint8Array<ArrayBuffer>> {
    return (await this.readBody(capBytes, reserve)).joined();
  }

  async readBody(capBytes: number, reserve?: (bytes: number) => void): Promise<JoinedBytes> {
    try {
      return await readBody(this, capBytes, reserve);
    } catch (error) {
      if (error instanceof GatewayError) throw error; // thrown by `reserve`
      throw failureOf(error, this.options, this.watch, this.status);
    }
  }

  cancel(): void {
    this.watch.stop();
    this.response.cancel();
  }
}

/** Reads the error body of a response and returns the failure that it reports. */
async function refusalOf(response: HttpResponse, call: OutboundCall, options: OutboundOptions, watch: ExchangeWatch) {
  watch.setLimit(ERROR_BODY_TIMEOUT_MS);
  watch.onReadStart();
  const bytes = await readAll(response, MAX_ERROR_BODY_BYTES).catch(() => new Uint8Array(0));
  const body = parsedOrNull(new TextDecoder().decode(bytes));
  const error = call.readError(body, (name) => response.head.get(name));
  const isKeyRejected = isCredentialRejected(response.status, body, error);
  const redirectNote = response.status < 400 ? ": redirects are not followed" : "";
  const fallback = messageOf(options, `responded with status ${response.status}${redirectNote}`);
  const hasNoBalance = response.status === 429 && isBalanceExhausted(error);
  return new UpstreamFailure(
    options.provider,
    isKeyRejected ? "auth" : error.kind ?? (hasNoBalance ? "unavailable" : failureKindOf(response.status)),
    error.message === "" ? fallback : options.redact(error.message),
    {
      status: response.status,
      accepted: acceptedOf(response.status),
      ownMessage: error.message === "" ? undefined : fallback,
      retryAfterSeconds: retryAfterOf(response, options.clock) ?? error.retryAfterSeconds ?? undefined,
      vendorCode: error.code === null ? undefined : options.redact(error.code),
      field: error.field === null ? undefined : options.redact(error.field),
      reason: error.reason,
      isContentRefusal: error.isContentRefusal,
      isFinal: hasNoBalance || response.head.get("x-should-retry") === "false",
      vendorTime: vendorTimeOf(response),
      costUsd: error.costUsd,
      vendorRequestId: vendorRequestIdOf((name) => response.head.get(name)) ?? undefined,
    },
  );
}

/**
 * Whether a vendor that responded with this status may have started the work. A 502 and a 504 come from a server in
 * front of the vendor's own, and a 408 may, so the work may continue. Cloudflare sends 520 to 527 for the same reasons.
 * Every other status ends the request.
 */
function acceptedOf(status: number): FailureFacts["accepted"] {
  const isProxyStatus = status === 502 || status === 504 || (status >= 520 && status <= 527);
  return isProxyStatus || status === 408 ? "unknown" : "no";
}

/** The messages of failures for which the vendor reports none. */
const FAILURE_MESSAGES: Readonly<Record<FailureKind, string>> = {
  unreachable: "could not be reached",
  timeout: "did not respond in time",
  broken: "returned an invalid response",
  auth: "rejected the gateway's credential",
  forbidden: "does not permit this request",
  rate_limited: "rejected the request because of its rate limit",
  invalid: "rejected the request",
  unavailable: "failed to process the request",
  cancelled: "was cancelled",
};

function reportedFailureOf(
  kind: FailureKind,
  vendorMessage: string,
  facts: Partial<FailureFacts>,
  options: OutboundOptions,
) {
  const ownMessage = messageOf(options, FAILURE_MESSAGES[kind]);
  const message = vendorMessage === "" ? ownMessage : options.redact(vendorMessage);
  const vendorCode = facts.vendorCode === undefined ? undefined : options.redact(facts.vendorCode);
  const status = kind === "broken" ? 200 : null;
  const own = vendorMessage === "" ? {} : { ownMessage };
  return new UpstreamFailure(options.provider, kind, message, {
    status,
    accepted: "no",
    ...own,
    ...facts,
    vendorCode,
  });
}

/**
 * The failure of an exchange. Only a {@linkcode ConnectionError} is the vendor's. Any other error is one of the
 * gateway: it is returned as `internal_error`, which opens no circuit and starts no other attempt.
 */
function failureOf(
  error: unknown,
  options: OutboundOptions,
  watch: ExchangeWatch,
  status: number | null = null,
): UpstreamFailure | GatewayError {
  if (error instanceof UpstreamFailure) return error;
  // An error of the gateway, such as that it has no free descriptor, is no failure of the vendor.
  if (!(error instanceof ConnectionError)) return gatewayErrorOf(error);
  const isUnsent = error.progress === "unsent";
  const connectionCause = error.kind === "connect" ? connectionCauseOf(error) ?? undefined : undefined;
  const fail = (kind: UpstreamFailure["kind"], what: string) =>
    new UpstreamFailure(options.provider, kind, messageOf(options, what), {
      status,
      accepted: isUnsent ? "no" : "unknown",
      connectionCause,
      cause: error,
    });
  if (watch.verdict === "timeout") return fail("timeout", "did not respond in time");
  if (watch.verdict === "caller_left") return fail("cancelled", "was cancelled");
  switch (error.kind) {
    case "connect":
      return fail("unreachable", unreachableText(connectionCause));
    case "closed":
      return fail("unreachable", "closed the connection before the response was complete");
    case "protocol":
      return fail("broken", "returned an invalid response");
    case "cancelled":
      return fail("cancelled", "was cancelled");
    case "body":
      return fail("cancelled", "did not receive the whole request");
  }
}

function unreachableText(cause: ConnectionCause | undefined): string {
  return cause === undefined ? FAILURE_MESSAGES.unreachable : `${FAILURE_MESSAGES.unreachable}: ${CAUSE_TEXTS[cause]}`;
}

function pathBelow(origin: string, prefix: string, address: string): string | null {
  const url = URL.parse(address);
  if (url === null || url.origin !== origin || !url.pathname.startsWith(`${prefix}/`)) return null;
  return url.pathname.slice(prefix.length) + url.search;
}

function isSibling(url: URL, own: URL, domains: readonly string[]): boolean {
  if (url.protocol !== "https:" || url.port !== "" || url.username !== "" || url.password !== "") return false;
  return domains.some((domain) => url.hostname.endsWith(`.${domain}`) && own.hostname.endsWith(`.${domain}`));
}

function messageOf(options: OutboundOptions, what: string): string {
  return `Provider "${options.provider}" ${what}`;
}

const MAX_RETRY_AFTER_SECONDS = 3600;

/**
 * Parses `Retry-After` to whole seconds from 1 to 3600, from a number or a date (RFC 9110, 10.2.3); null if it is
 * neither.
 */
function retryAfterOf(response: HttpResponse, clock: Clock): number | null {
  const value = response.head.get("retry-after");
  if (value === null) return null;
  const seconds = /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : (parseHttpDate(value) - clock.now()) / 1000;
  if (Number.isNaN(seconds)) return null;
  return Math.min(Math.max(Math.ceil(seconds), 1), MAX_RETRY_AFTER_SECONDS);
}

/** The vendor's clock, as the header field `date` states it; undefined if it does not. */
function vendorTimeOf(response: HttpResponse): number | undefined {
  const time = parseHttpDate(response.head.get("date") ?? "");
  return Number.isNaN(time) ? undefined : time;
}

/**
 * Parses an HTTP date to Unix milliseconds; NaN if it is not valid. All three formats begin with the weekday and are in
 * UTC (RFC 9110, 5.6.7).
 */
function parseHttpDate(value: string): number {
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(value)) return NaN;
  return Date.parse(value.endsWith(" GMT") ? value : `${value} GMT`);
}

/** The value of an error's body; null for one that is no JSON, or has more values than any error. */
function parsedOrNull(text: string): unknown {
  if (textHasMoreValuesThan(text, MAX_ERROR_VALUES)) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
