import type { Endpoint } from "../endpoints/endpoint.ts";
import type { Clock } from "../lib/basics/clock.ts";
import { GatewayError, gatewayErrorOf } from "../lib/basics/gateway_error.ts";
import { newRequestId } from "../lib/basics/ids.ts";
import type { Log } from "../lib/basics/log.ts";
import type { MaybePromise } from "../lib/basics/maybe_promise.ts";
import { markWork } from "../lib/process/own_heartbeat.ts";
import { type Money, writeMoney } from "../lib/basics/money.ts";
import { type HeldMemory, type MemoryBudget, UNLIMITED_MEMORY } from "../lib/process/memory_budget.ts";
import type { RequestTrace } from "../lib/tracing/trace_context.ts";
import { stackOf } from "../lib/process/unhandled.ts";
import { abortAfter } from "./abort_after.ts";
import { BodyTimeout } from "./bodies/body.ts";
import type { Cidr } from "../net/address.ts";
import { clientAddressOf } from "./client_address.ts";
import { allowOrigin, isPreflight, preflightResponse } from "./cors.ts";
import { HeaderFields, type HeaderReader } from "./request/headers.ts";
import { checkHost, checkLength, checkTransferCoding, contentCodingOf, pathStartOf } from "./front_door_checks.ts";
import type { ErrorRenderer, Inbound, Route } from "./request/inbound.ts";
import {
  type RecordedArrival,
  type RecordedRefusal,
  type RequestObserver,
  RequestRecord,
} from "./request/request_record.ts";
import { rootResponse } from "./root_page.ts";
import { Late } from "../lib/process/late.ts";

const decodedRequestModule = new Late(() => import("./decoded_request.ts"));

/** What the front door needs of the router. */
export interface RequestRouter {
  match(method: string, path: string, headers: Headers):
    & { readonly address: string }
    & (
      | { readonly route: Route; readonly params: Readonly<Record<string, string>> }
      | { readonly route: null; readonly error: GatewayError; readonly renderError: ErrorRenderer }
    );
  methodsOf(path: string, headers: Headers): readonly Route["method"][];
  rendererFor(path: string, headers: Headers): ErrorRenderer;
}

/** Options of {@linkcode createRequestHandler}. */
export interface RequestHandlerOptions {
  readonly router: RequestRouter;
  readonly log: Log;
  readonly clock: Clock;
  /** The maximum length of path and query together in characters. Default 8192. */
  readonly maxUrlCharacters?: number;
  /** True while the process shuts down: responses then ask the caller to reconnect. */
  readonly isDraining?: () => boolean;
  /** The memory budget of all requests. Default: unlimited. */
  readonly memory?: MemoryBudget;
  /** Converts any thrown value to the error to return. Default: {@linkcode gatewayErrorOf}. */
  readonly errorOf?: (thrown: unknown) => GatewayError;
  /** The networks of proxies whose `X-Forwarded-For` is believed. Default: none. */
  readonly trustedProxies?: readonly Cidr[];
  /** Receives the record of each request at its end. Default: none. */
  readonly observer?: RequestObserver;
  /** Receives the record of each request at its arrival. Default: nothing does. */
  readonly onArrival?: ((record: RequestRecord) => void) | null;
  /** Returns the address of a request as it was sent. Default: the request's own. */
  readonly addressOf?: (request: Request) => string;
  /** Returns the place of a request in a trace, from its header fields. Default: requests have none. */
  readonly traceOf?: ((headers: HeaderReader) => RequestTrace) | null;
  /** Returns the start of the addresses that describe errors, without a final slash. Default: errors have none. */
  readonly docsUrl?: () => string;
}

/** Handles one request; never rejects. The signature that `Deno.serve` calls. */
export type RequestHandler = (request: Request, info: Deno.ServeHandlerInfo) => Promise<Response>;

/**
 * Creates the handler of all requests. It rejects ambiguous requests, assigns the request id, finds the route, renders
 * every error once in the caller's protocol, and discards unread bodies. It uses no signal and no `URL`, because each
 * would cost more than the rest.
 */
export function createRequestHandler(options: RequestHandlerOptions): RequestHandler {
  const {
    router,
    log,
    clock,
    maxUrlCharacters: longestUrl,
    isDraining = () => false,
    observer = null,
    onArrival = null,
    traceOf = null,
    addressOf = ({ url }) => url,
    trustedProxies = [],
    docsUrl,
  } = options;
  const { memory = UNLIMITED_MEMORY, errorOf = gatewayErrorOf } = options;

  return async function frontDoor(request, info) {
    const arrival = new Arrival(request, info, clock.now(), {
      memory,
      isDraining,
      observer,
      trustedProxies,
    });
    markWork("request", arrival.requestId);
    onArrival?.(arrival.record);
    if (traceOf !== null) arrival.record.trace = traceOf(arrival.headers);
    let response: Response;
    let error: GatewayError | null = null;
    try {
      response = await answer(arrival);
    } catch (thrown) {
      arrival.endMemory();
      arrival.hasResponseFields = false;
      error = errorOf(thrown);
      response = failure(error, arrival);
    }
    endMemoryWhenSent(arrival);
    discardBody(request);
    const left = leave(arrival, response, error);
    arrival.record.release();
    return left;
  };

  function answer(arrival: Arrival): MaybePromise<Response> {
    const { request } = arrival;
    checkHost(request, arrival.headers);
    readAddress(arrival, addressOf(request));
    const { sentPath } = arrival;
    checkLength(sentPath.length + arrival.query.length, longestUrl);
    if (isPreflight(request)) return preflightResponse();
    if (!METHODS.has(request.method)) throw methodRefusal(router.methodsOf(sentPath, request.headers));
    checkTransferCoding(arrival.headers);

    const match = router.match(request.method, sentPath, request.headers);
    arrival.path = match.address;
    if (match.route === null) {
      if (sentPath === "/" && (request.method === "GET" || request.method === "HEAD")) {
        const isServed = (path: string) => router.match("GET", path, request.headers).route !== null;
        return rootResponse(arrival.headers.get("accept"), isServed);
      }
      arrival.renderError = match.renderError;
      throw match.error;
    }
    arrival.record.endpoint = match.route.path;
    arrival.record.isProbe = match.route.isProbe === true;
    arrival.endpoint = match.route;
    arrival.renderError = match.route.renderError;
    arrival.params = match.params;
    const { handler } = match.route;
    const coding = contentCodingOf(arrival.headers);
    if (coding === null || request.body === null) return handler(arrival);
    // Most gateways never get such a body, so the decoders are loaded for the first one.
    return decodedRequestModule.load().then(({ decodedRequest }) => {
      arrival.replaceRequest(decodedRequest(request, coding));
      return handler(arrival);
    });
  }

  function failure(error: GatewayError, arrival: Arrival): Response {
    if (error.code === "internal_error") {
      log.error("request.failed", {
        requestId: arrival.requestId,
        reason: errorLocation(error.details.cause ?? error),
      });
    }
    let rendered: Response;
    const docUrl = docsUrl === undefined ? undefined : docUrlOf(error, docsUrl());
    try {
      const render = arrival.renderError ?? router.rendererFor(arrival.sentPath, arrival.request.headers);
      rendered = render(error, arrival.requestId, arrival.request.headers, docUrl);
    } catch (thrown) {
      log.error("request.unrendered", { requestId: arrival.requestId, reason: errorLocation(thrown) });
      rendered = Response.json({ error: { code: error.code, message: error.message } }, { status: error.status });
    }
    addFailureHeaders(rendered.headers, error);
    if (docUrl !== undefined) rendered.headers.set("link", `<${docUrl}>; rel="help"`);
    return error instanceof BodyTimeout ? abortAfter(rendered, clock) : rendered;
  }

  function leave(arrival: Arrival, answered: Response, error: GatewayError | null): Response {
    const { request } = arrival;
    const response = arrival.hasResponseFields ? answered : withFields(answered, arrival.responseFields());
    const { record } = arrival;
    addCost(response, record.cost);
    record.status = response.status;
    record.respondedAt = clock.now();
    if (error !== null) {
      record.code = error.code;
      record.message = error.details.loggedMessage ?? error.message;
      record.provider ??= error.details.provider ?? null;
      record.refusal = refusalOf(error, record.respondedAt);
    }
    return request.method === "HEAD" ? withoutBody(response) : response;
  }
}

/** The address of the section about an error. Every code has one: docs/troubleshooting.md. */
function docUrlOf({ code, details: { finerCode } }: GatewayError, docsUrl: string): string {
  return `${docsUrl}/troubleshooting#${finerCode ?? code}`;
}

/** Returns the limit that refused a request; null for any other error. */
function refusalOf({ details: { quota, retryAfterSeconds } }: GatewayError, now: number): RecordedRefusal | null {
  if (quota === undefined) return null;
  const { holder, limit, value, resetAt } = quota;
  const isRate = limit === "rpm" || limit === "tpm";
  const rateResetAt = isRate && retryAfterSeconds !== undefined ? now + retryAfterSeconds * 1_000 : null;
  return { holder, limit, value, resetAt: resetAt ?? rateResetAt };
}

/** Adds the cost of a request that was charged before its response. Texts have the field already. */
function addCost({ headers }: Response, cost: Money | null): void {
  if (cost !== null && !headers.has("x-service-cost")) headers.set("x-service-cost", writeMoney(cost));
}

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);

/** What all requests share. */
interface ArrivalParts {
  readonly memory: MemoryBudget;
  readonly isDraining: () => boolean;
  readonly observer: RequestObserver | null;
  readonly trustedProxies: readonly Cidr[];
}

const UNMATCHED: Endpoint = { method: "GET", path: "" };

/** A request while it is handled. Costly properties are computed on demand. */
class Arrival implements Inbound, RecordedArrival {
  readonly requestId: string;
  address = "";
  sentPath = "";
  /** As sent, until the router has matched it. */
  path = "";
  query = "";
  /** The handler's own, from when the router has matched it. */
  endpoint: Endpoint = UNMATCHED;
  params: Readonly<Record<string, string>> = {};
  /** Null while the path decides. */
  renderError: ErrorRenderer | null = null;
  /** Whether the response was built with {@linkcode Arrival.responseFields}. */
  hasResponseFields = false;
  readonly record: RequestRecord;
  /** Set by authentication. */
  callerFields: ((fields: Record<string, string>) => void) | null = null;
  #memory: HeldMemory | null = null;
  #headers: HeaderReader | null = null;
  #remote: string | null = null;
  #address: Deno.Addr | null = null;

  constructor(
    /** As sent, or with the decoded body. */
    public request: Request,
    readonly info: Deno.ServeHandlerInfo,
    readonly receivedAt: number,
    readonly parts: ArrivalParts,
  ) {
    this.requestId = newRequestId(receivedAt);
    this.record = new RequestRecord(this, parts.observer);
    // Observers need the address at the end, when the platform no longer has it if the caller has disconnected.
    if (parts.observer !== null) this.#remote = this.#clientAddress();
  }

  readonly responseFields = (): Record<string, string> => {
    const { requestId } = this;
    const fields: Record<string, string> = {
      "x-service-request-id": requestId,
      "x-request-id": requestId, // read by the default protocol's clients
      "request-id": requestId, // read by the message protocol's clients
    };
    allowOrigin(this.headers, fields);
    this.callerFields?.(fields);
    if (this.parts.isDraining()) fields.connection = "close";
    this.hasResponseFields = true;
    return fields;
  };

  /** Sets the request with the decoded body. */
  replaceRequest(request: Request): void {
    this.request = request;
    this.#headers = null;
  }

  get memory(): HeldMemory {
    return this.#memory ??= this.parts.memory.lease();
  }

  get holdsMemory(): boolean {
    return this.#memory !== null && this.#memory.held > 0;
  }

  readonly endMemory = (): void => this.#memory?.end();

  get headers(): HeaderReader {
    return this.#headers ??= new HeaderFields(this.request.headers);
  }

  get method(): string {
    return this.request.method;
  }

  /** The platform makes an object for each access. */
  get #peer(): Deno.Addr {
    return this.#address ??= this.info.remoteAddr;
  }

  get peerPort(): number {
    const address = this.#peer;
    return "port" in address ? address.port : 0;
  }

  get remote(): string {
    return this.#remote ??= this.#clientAddress();
  }

  #clientAddress(): string {
    const address = this.#peer;
    const peer = "hostname" in address ? address.hostname : "";
    const { trustedProxies } = this.parts;
    if (trustedProxies.length === 0) return peer;
    return clientAddressOf(peer, this.headers.get("x-forwarded-for"), trustedProxies);
  }
}

/** A buffered response occupies memory until the caller has received it, so the lease lasts until then. */
function endMemoryWhenSent(arrival: Arrival): void {
  if (arrival.holdsMemory) arrival.info.completed.then(arrival.endMemory, arrival.endMemory);
}

/** Path and query as sent: `url` is the scheme, the authority and the unchanged request target. */
function readAddress(arrival: Arrival, url: string): void {
  arrival.address = url;
  const start = pathStartOf(url);
  if (start < 0) return;
  const mark = url.indexOf("?", start);
  arrival.sentPath = arrival.path = mark < 0 ? url.slice(start) : url.slice(start, mark);
  arrival.query = mark < 0 ? "" : url.slice(mark + 1);
}

function methodRefusal(ofPath: readonly string[]): GatewayError {
  const allow = ofPath.length > 0 ? ofPath : [...METHODS];
  return new GatewayError("method_not_allowed", `Cannot serve this method: expected ${allow.join(" or ")}`, { allow });
}

function addFailureHeaders(headers: Headers, { details, status }: GatewayError): void {
  if (details.allow !== undefined) headers.set("allow", details.allow.join(", "));
  if (details.retryAfterSeconds !== undefined) headers.set("retry-after", String(details.retryAfterSeconds));
  if (isPointless(details, status)) headers.set("x-should-retry", "false");
  if (details.provider !== undefined) headers.set("x-service-provider", details.provider);
  if (details.closeConnection || status === 414) headers.set("connection", "close");
}

/**
 * Whether clients would retry a failure in vain. Those of OpenAI and Anthropic retry 408, 409, 429 and 5xx after half a
 * second where they are not told otherwise, also when `Retry-After` is longer than a minute. Source: openai 3.57.0 and
 * anthropic 2.14.0 (Python), `_should_retry`.
 */
function isPointless({ isFinal, retryAfterSeconds = 0 }: GatewayError["details"], status: number): boolean {
  const isRetried = status === 408 || status === 409 || status === 429 || status >= 500;
  return isRetried && (isFinal === true || retryAfterSeconds > MAX_CLIENT_WAIT_SECONDS);
}

/** The longest `Retry-After` that clients wait for. */
const MAX_CLIENT_WAIT_SECONDS = 60;

/** The connection would keep an unread body, which costs the time of several requests. */
function discardBody(request: Request): void {
  if (request.method === "GET" || request.method === "HEAD" || request.bodyUsed) return;
  request.body?.cancel().catch(() => {}); // it is incomplete: nothing to discard
}

/** Adds header fields in place. A response with immutable headers, such as one of `fetch`, is copied. */
function withFields(response: Response, fields: Readonly<Record<string, string>>): Response {
  try {
    setFields(response.headers, fields);
    return response;
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    const { status, statusText } = response;
    const headers = new Headers(response.headers);
    setFields(headers, fields);
    return new Response(response.body, { status, statusText, headers });
  }
}

function setFields(headers: Headers, fields: Readonly<Record<string, string>>): void {
  for (const name in fields) headers.set(name, fields[name]!);
}

/**
 * The headers of GET without its body (RFC 9110, 9.3.2). If the handler set no length, the platform uses that of the
 * body, which it does not send. Accessing the body here would make it a stream of unknown length.
 */
function withoutBody(response: Response): Response {
  if (!response.headers.has("content-length")) return response;
  response.body?.cancel().catch(() => {}); // a failure does not matter: the body is not used
  return new Response(null, { status: response.status, headers: response.headers });
}

/** The frames of a stack that the log shows of a failed request. */
const MAX_FRAMES = 3;

/** The class and location of an unexpected error. The message is not used, since it can repeat the input. */
export function errorLocation(thrown: unknown): string {
  return stackOf(thrown, MAX_FRAMES);
}
