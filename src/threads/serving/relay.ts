import { timingSafeEqual } from "node:crypto";
import { ChunkReader } from "../../platform/http/bodies/chunk_reader.ts";
import type { RequestHandler } from "../../platform/http/request_handler.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import { outputStream } from "../../platform/lib/streams/output_stream.ts";
import { createHttpClient, type HttpClient } from "../../platform/net/http1/client.ts";
import { headerLinesOf } from "../../platform/net/http1/header_lines.ts";
import type { HttpResponse } from "../../platform/net/http1/response.ts";
import type { Origin as RelayOrigin, StreamedBody, WireRequest } from "../../platform/net/http1/wire_request.ts";
import type { RelayAddress } from "./messages.ts";

/** The header field that tells the main thread from where a relayed request came. */
const RELAY_FIELD = "x-switchyard-relay";

/** Fields of one connection (RFC 9110, 7.6.1), and those that the HTTP client sets itself. */
const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  RELAY_FIELD,
]);

/** Methods that the main thread serves. It refuses any other like `OPTIONS`, which every HTTP server reads. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Sends requests to the main thread, and their responses back. */
export class ThreadRelay {
  /** Of the gateway, since `fetch` would send the requests to the proxy in `HTTP_PROXY`. It uses no proxy. */
  readonly #client: HttpClient;
  readonly #origin: RelayOrigin;
  readonly #token: string;

  /** Creates a relay without a connection. */
  constructor({ port, token }: RelayAddress, clock: Clock) {
    this.#client = createHttpClient({ clock });
    this.#origin = { tls: false, hostname: "127.0.0.1", port };
    this.#token = token;
  }

  /**
   * Sends a request to the main thread, and its response back. Bodies are streamed in both directions.
   *
   * @throws {ConnectionError} If the main thread cannot be reached, or the caller has left.
   * @throws {GatewayError} If the body is refused.
   */
  async send(
    request: Request,
    { remoteAddr }: Pick<Deno.ServeHandlerInfo<Deno.NetAddr>, "remoteAddr">,
  ): Promise<Response> {
    const { hostname, port } = remoteAddr;
    const { body, headers, url } = request;
    const sent = body === null ? null : new CallerBody(body, headers);
    const wire = wireRequestOf(request, sent, { token: this.#token, hostname, port, url });
    try {
      return await responseOf(await this.#exchange(wire, request.signal), sent);
    } catch (error) {
      await sent?.end();
      throw sent?.refusal ?? error;
    }
  }

  /** A caller who leaves before the response ends the exchange. */
  async #exchange(wire: WireRequest, signal: AbortSignal): Promise<HttpResponse> {
    let cancel = () => {};
    const onLeft = () => cancel();
    signal.addEventListener("abort", onLeft);
    try {
      return await this.#client.send(this.#origin, wire, (given) => {
        cancel = given;
        if (signal.aborted) cancel(); // before the listener was there
      });
    } finally {
      signal.removeEventListener("abort", onLeft);
    }
  }

  /** Closes the connections that are not in use. */
  close(): void {
    this.#client.close();
  }
}

function wireRequestOf(
  { method, headers }: Pick<Request, "method" | "headers">,
  body: WireRequest["body"],
  origin: Origin,
): WireRequest {
  const fields: Record<string, string> = {};
  const unwritable: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (CONNECTION_FIELDS.has(name)) return;
    if (WRITABLE.test(value)) fields[name] = value;
    else unwritable[name] = value;
  });
  const isServed = METHODS.has(method);
  if (!isServed) delete fields["access-control-request-method"]; // it would be a preflight
  const whole = Object.keys(unwritable).length === 0 ? origin : { ...origin, fields: unwritable };
  return {
    method: isServed ? method : "OPTIONS",
    path: "/", // the address as it was sent is in the field
    headerLines: headerLinesOf({ ...fields, [RELAY_FIELD]: asciiJson(whole) }),
    body,
  };
}

/** Other values cannot be written to a connection. They are in the field, in JSON. */
const WRITABLE = /^[\t\x20-\x7e]*$/;

/** The body of a request, which can be read once. */
class CallerBody implements StreamedBody {
  /** As the caller has declared it, and the platform checks it. */
  readonly lengthBytes: number | null;
  /** Why the body was refused; null if it was not. */
  refusal: GatewayError | null = null;
  readonly #reader: ChunkReader;
  #isEnded = false;

  constructor(body: ReadableStream<Uint8Array<ArrayBuffer>>, headers: Headers) {
    // The platform takes a list of equal lengths as one.
    const length = /^\d+/.exec(headers.get("content-length") ?? "");
    this.lengthBytes = length === null ? null : Number(length[0]);
    this.#reader = new ChunkReader(body, () => {});
  }

  async *open(): AsyncGenerator<Uint8Array> {
    // Ends with the body.
    for (;;) {
      const chunk = await this.#reader.next().catch((error) => {
        if (error instanceof GatewayError) this.refusal = error;
        throw error;
      });
      // A body that was ended is not complete: nothing more of it is sent.
      if (this.#isEnded) await new Promise<never>(() => {});
      if (chunk === null) return;
      yield chunk;
    }
  }

  /** Discards the rest. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#reader.cancel().catch(() => {}); // nothing to discard
  }
}

/** Statuses of responses without a body. Source: Fetch standard, "null body status". */
const NULL_BODY_STATUSES: ReadonlySet<number> = new Set([204, 205, 304]);

/** @param sent The body of the request. Its rest is discarded at the end of the response. */
async function responseOf(response: HttpResponse, sent: CallerBody | null): Promise<Response> {
  const { status, head } = response;
  const headers = new Headers();
  for (const [name, value] of head.fields()) {
    if (!CONNECTION_FIELDS.has(name) || name === "content-length") headers.append(name, value);
  }
  if (!head.keepsAlive) {
    // While the body is read, the server adds the field too.
    await sent?.end();
    headers.set("connection", "close");
  }
  if (!NULL_BODY_STATUSES.has(status)) return new Response(bodyOf(response, sent), { status, headers });
  response.cancel();
  await sent?.end();
  return new Response(null, { status, headers });
}

/** The body of a response. A caller who leaves ends the exchange with the main thread. */
function bodyOf(response: HttpResponse, sent: CallerBody | null): ReadableStream<Uint8Array<ArrayBuffer>> {
  return outputStream({
    async pull(output) {
      const chunk = await response.read().catch(async (error) => {
        await sent?.end();
        throw error;
      });
      if (chunk !== null) return output.enqueue(chunk);
      output.close();
      await sent?.end();
    },
    async cancel() {
      response.cancel();
      await sent?.end();
    },
  }, { highWaterMark: 0 });
}

/** Where a relayed request came from. */
interface Origin {
  readonly token: string;
  readonly hostname: string;
  readonly port: number;
  /** The address of the request as it was sent. */
  readonly url: string;
  /** Header fields whose values are not visible ASCII. Default: none. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** JSON that a header field can hold. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The address of a relayed request as its caller sent it. The request must come from an isolate. */
export function relayedAddressOf(request: Request): string {
  return (JSON.parse(request.headers.get(RELAY_FIELD) ?? "{}") as Origin).url;
}

/** Returns a handler that takes requests from isolates only, and answers as if they had come from their callers. */
export function relayedHandler(handler: RequestHandler, token: string): RequestHandler {
  return async (request, info) => {
    const origin = originOf(request.headers.get(RELAY_FIELD), token);
    if (origin === null) return new Response(null, { status: 404 });
    const { hostname, port, fields } = origin;
    const sent = fields === undefined ? request : withFields(request, fields);
    return await handler(sent, { remoteAddr: { transport: "tcp", hostname, port }, completed: info.completed });
  };
}

/** The header fields of a request of the platform cannot be changed. */
function withFields(request: Request, fields: Readonly<Record<string, string>>): Request {
  const headers = new Headers(request.headers);
  for (const name in fields) headers.set(name, String(fields[name]));
  return new Request(request, { headers });
}

function originOf(field: string | null, token: string): Origin | null {
  if (field === null) return null;
  try {
    const origin = JSON.parse(field) as Origin;
    return isEqual(String(origin.token), token) ? origin : null;
  } catch {
    return null; // not JSON: sent by somebody else
  }
}

function isEqual(one: string, other: string): boolean {
  const [first, second] = [new TextEncoder().encode(one), new TextEncoder().encode(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}
