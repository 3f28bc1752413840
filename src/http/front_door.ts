import type { Clock } from "../lib/clock.ts";
import { GatewayError, gatewayErrorOf } from "../lib/gateway_error.ts";
import { newRequestId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import { type MemoryBudget, type MemoryLease, UNLIMITED_MEMORY } from "../lib/memory_budget.ts";
import { abruptAnswer } from "./abrupt_answer.ts";
import { StalledBody } from "./body.ts";
import { allowReading, isPreflight, preflightAnswer } from "./cors.ts";
import { hostOf, isHost } from "./host.ts";
import type { ErrorRenderer, Inbound, Route } from "./inbound.ts";

/** What the front door asks of the address table. */
export interface AddressTable {
  match(method: string, path: string, headers: Headers):
    & { readonly address: string }
    & (
      | { readonly route: Route; readonly params: Readonly<Record<string, string>> }
      | { readonly route: null; readonly error: GatewayError; readonly renderError: ErrorRenderer }
    );
  methodsOf(path: string, headers: Headers): readonly Route["method"][];
  rendererFor(path: string, headers: Headers): ErrorRenderer;
}

/** What the front door is built from. */
export interface FrontDoorOptions {
  readonly router: AddressTable;
  readonly log: Log;
  readonly clock: Clock;
  /** The longest path and query together, in characters. Default 8192. */
  readonly longestUrl?: number;
  /** True once the process is about to end: answers then ask the caller to connect anew. */
  readonly isDraining?: () => boolean;
  /** What bounds the memory of all requests. Default: nothing. */
  readonly memory?: MemoryBudget;
  /** Any thrown thing as the error to answer with. Default: {@linkcode gatewayErrorOf}. */
  readonly errorOf?: (thrown: unknown) => GatewayError;
  /** The level of the line that each request leaves in the log. Default `info`. */
  readonly accessLevel?: "debug" | "info";
}

/** Answers one request; never rejects. The shape that `Deno.serve` calls. */
export type FrontDoor = (request: Request, info: Deno.ServeHandlerInfo) => Promise<Response>;

/**
 * Builds the door that every request passes: it refuses what another proxy could read in another way, names the
 * request, finds its route, renders every failure once in the shape of the caller's protocol, and leaves no request
 * body unread. It reads no signal, builds no `URL` and copies no headers, because each would cost more than the rest.
 */
export function createFrontDoor(options: FrontDoorOptions): FrontDoor {
  const { router, log, clock, longestUrl = MAX_URL_CHARACTERS, isDraining = () => false, accessLevel = "info" } =
    options;
  const { memory = UNLIMITED_MEMORY, errorOf = gatewayErrorOf } = options;

  return async function frontDoor(request, info) {
    const arrival = new Arrival(request, info, clock.now(), memory);
    let response: Response;
    let error: GatewayError | null = null;
    try {
      response = await answer(arrival);
    } catch (thrown) {
      arrival.endMemory();
      error = errorOf(thrown);
      response = failure(error, arrival);
    }
    endMemoryWhenSent(arrival);
    discardBody(request);
    return leave(arrival, response, error);
  };

  async function answer(arrival: Arrival): Promise<Response> {
    const { request } = arrival;
    refuseHost(request);
    readAddress(arrival, request.url);
    const { sentPath } = arrival;
    if (sentPath.length + arrival.query.length > longestUrl) throw tooLong(longestUrl);
    if (isPreflight(request)) return preflightAnswer();
    if (!METHODS.has(request.method)) throw methodRefusal(router.methodsOf(sentPath, request.headers));
    refuseCodings(request.headers);

    const match = router.match(request.method, sentPath, request.headers);
    arrival.path = match.address;
    if (match.route === null) {
      if (sentPath === "/" && (request.method === "GET" || request.method === "HEAD")) return greeting();
      arrival.renderError = match.renderError;
      throw match.error;
    }
    arrival.renderError = match.route.renderError;
    arrival.params = match.params;
    return await match.route.handler(arrival);
  }

  function failure(error: GatewayError, arrival: Arrival): Response {
    if (error.code === "internal_error") {
      log.error("request.failed", { requestId: arrival.requestId, reason: placeOf(error.details.cause ?? error) });
    }
    let rendered: Response;
    try {
      const render = arrival.renderError ?? router.rendererFor(arrival.sentPath, arrival.request.headers);
      rendered = render(error, arrival.requestId, arrival.request.headers);
    } catch (thrown) {
      log.error("request.unrendered", { requestId: arrival.requestId, reason: placeOf(thrown) });
      rendered = Response.json({ error: { code: error.code, message: error.message } }, { status: error.status });
    }
    addFailureHeaders(rendered.headers, error);
    return error instanceof StalledBody ? abruptAnswer(rendered, clock) : rendered;
  }

  function leave(arrival: Arrival, answered: Response, error: GatewayError | null): Response {
    const { request } = arrival;
    const response = withOwnHeaders(answered, (headers) => {
      headers.set("x-service-request-id", arrival.requestId);
      headers.set("x-request-id", arrival.requestId); // read by the default protocol's clients
      headers.set("request-id", arrival.requestId); // read by the message protocol's clients
      allowReading(request, headers);
      if (isDraining()) headers.set("connection", "close");
    });
    log[accessLevel]("request", {
      requestId: arrival.requestId,
      protocol: protocolOf(arrival.path),
      method: request.method,
      path: arrival.sentPath.slice(0, MAX_LOGGED_PATH_CHARACTERS),
      status: response.status,
      code: error?.code,
      provider: error?.details.provider,
      firstByteMs: clock.now() - arrival.receivedAt,
    });
    return request.method === "HEAD" ? withoutBody(response) : response;
  }
}

const MAX_URL_CHARACTERS = 8192;
const MAX_LOGGED_PATH_CHARACTERS = 200;
/** The protocols by the first segment of their addresses. */
const PROTOCOLS: ReadonlyMap<string, string> = new Map([
  ["v1", "default"],
  ["msgcompat", "message"],
  ["gencompat", "content"],
  ["admin", "admin"],
]);
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);

/** A request on its way through the door; what is costly to know is looked up when it is asked for. */
class Arrival implements Inbound {
  readonly requestId = newRequestId();
  sentPath = "";
  /** As sent until the address table was asked. */
  path = "";
  query = "";
  params: Readonly<Record<string, string>> = {};
  /** Null while the path decides. */
  renderError: ErrorRenderer | null = null;
  #memory: MemoryLease | null = null;

  constructor(
    readonly request: Request,
    readonly info: Deno.ServeHandlerInfo,
    readonly receivedAt: number,
    readonly budget: MemoryBudget,
  ) {}

  get memory(): MemoryLease {
    return this.#memory ??= this.budget.lease();
  }

  get holdsMemory(): boolean {
    return this.#memory !== null && this.#memory.held > 0;
  }

  readonly endMemory = (): void => this.#memory?.end();

  get method(): string {
    return this.request.method;
  }

  get remote(): string {
    const address = this.info.remoteAddr;
    return "hostname" in address ? address.hostname : "";
  }
}

/** A whole reply stands in memory until the caller has taken it, so its memory counts until then. */
function endMemoryWhenSent(arrival: Arrival): void {
  if (arrival.holdsMemory) arrival.info.completed.then(arrival.endMemory, arrival.endMemory);
}

/** Before anything reads `request.url`, into which the platform pastes the field. RFC 9112, 3.2: 400. */
function refuseHost(request: Request): void {
  const host = hostOf(request);
  if (host !== null && isHost(host)) return;
  throw new GatewayError("invalid_request", "Cannot read the Host header: expected one host with an optional port", {
    closeConnection: true,
  });
}

/** Path and query as sent: `url` is scheme, authority and the request target unchanged. */
function readAddress(arrival: Arrival, url: string): void {
  const start = url.indexOf("/", "http://".length + 1);
  if (start < 0) return;
  const mark = url.indexOf("?", start);
  arrival.sentPath = arrival.path = mark < 0 ? url.slice(start) : url.slice(start, mark);
  arrival.query = mark < 0 ? "" : url.slice(mark + 1);
}

/** The protocol that an address belongs to; missing for what none of them has, such as `/healthz`. */
function protocolOf(path: string): string | undefined {
  const end = path.indexOf("/", 1);
  return PROTOCOLS.get(path.slice(1, end < 0 ? undefined : end));
}

function tooLong(longest: number): GatewayError {
  return new GatewayError(
    "invalid_request",
    `Cannot read an address this long: expected at most ${longest} characters`,
    {
      status: 414,
    },
  );
}

function methodRefusal(ofPath: readonly string[]): GatewayError {
  const allow = ofPath.length > 0 ? ofPath : [...METHODS];
  return new GatewayError("method_not_allowed", `Cannot serve this method: expected ${allow.join(" or ")}`, { allow });
}

/** Bodies come as they are: what one reader decodes and the next does not would be two requests. */
function refuseCodings(headers: Headers): void {
  const transfer = headers.get("transfer-encoding");
  if (transfer !== null && transfer.toLowerCase() !== "chunked") {
    throw new GatewayError("invalid_request", "Cannot read this Transfer-Encoding: expected chunked or none", {
      closeConnection: true,
    });
  }
  const content = headers.get("content-encoding");
  if (content !== null && content.toLowerCase() !== "identity") {
    throw new GatewayError("invalid_request", "Cannot read this Content-Encoding: expected identity or none", {
      status: 415,
    });
  }
}

/** What tools get that knock at the base address to see who is there. */
function greeting(): Response {
  return Response.json({ service: "switchyard", status: "ok" });
}

function addFailureHeaders(headers: Headers, { details, status }: GatewayError): void {
  if (details.allow !== undefined) headers.set("allow", details.allow.join(", "));
  if (details.retryAfterSeconds !== undefined) headers.set("retry-after", String(details.retryAfterSeconds));
  if (details.provider !== undefined) headers.set("x-service-provider", details.provider);
  if (details.closeConnection || status === 414) headers.set("connection", "close");
}

/** An unread body would be carried along by the connection, which costs several requests' worth of time. */
function discardBody(request: Request): void {
  if (request.method === "GET" || request.method === "HEAD" || request.bodyUsed) return;
  request.body?.cancel().catch(() => {}); // it broke off: nothing is left to discard
}

/** Adds to the headers in place; an answer whose headers are locked, such as one of `fetch`, is made anew. */
function withOwnHeaders(response: Response, add: (headers: Headers) => void): Response {
  try {
    add(response.headers);
    return response;
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    const { status, statusText } = response;
    const headers = new Headers(response.headers);
    add(headers);
    return new Response(response.body, { status, statusText, headers });
  }
}

/**
 * The headers of GET alone (RFC 9110, 9.3.2). Where the handler gave no length the platform counts the body, which it
 * then does not send; merely asking for the body here would turn it into a stream of unknown length.
 */
function withoutBody(response: Response): Response {
  if (!response.headers.has("content-length")) return response;
  response.body?.cancel().catch(() => {}); // it may fail as it likes: nobody reads it
  return new Response(null, { status: response.status, headers: response.headers });
}

/** Class and place of a failure that nobody foresaw. Never its message: the engine's own can repeat the input. */
export function placeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return `threw a ${typeof thrown}`;
  const head = `${thrown.name}: ${thrown.message}`;
  const frames = thrown.stack?.startsWith(head) ? thrown.stack.slice(head.length) : "";
  return [thrown.name, ...frames.split("\n").map((line) => line.trim()).filter(Boolean).slice(0, 3)].join(" ");
}
