import { timingSafeEqual } from "node:crypto";
import { ChunkReader } from "../http/chunk_reader.ts";
import type { RequestHandler } from "../http/request_handler.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import type { RelayAddress } from "./messages.ts";

/** The header field that tells the main thread from where a relayed request came. */
const RELAY_FIELD = "x-switchyard-relay";

/** Fields of one connection (RFC 9110, 7.6.1), and those that the HTTP client sets itself. */
const CONNECTION_FIELDS = [
  "connection",
  "content-length",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  RELAY_FIELD,
];

/**
 * Sends a request to the main thread, and its response back. Bodies are streamed in both directions.
 *
 * @throws {GatewayError} If the body is refused.
 * @throws {TypeError} If the main thread cannot be reached.
 */
export async function relay(
  request: Request,
  { remoteAddr }: Deno.ServeHandlerInfo<Deno.NetAddr>,
  { port, token }: RelayAddress,
): Promise<Response> {
  const headers = new Headers(request.headers);
  for (const name of CONNECTION_FIELDS) headers.delete(name);
  // `fetch` would decode a body, and leave the field that says how it is coded.
  headers.set("accept-encoding", "identity");
  // `fetch` would change a path such as `/v1/../admin`, so the address is in the field.
  const origin: Origin = { token, hostname: remoteAddr.hostname, port: remoteAddr.port, url: request.url };
  headers.set(RELAY_FIELD, asciiJson(origin));
  const body = request.body === null ? null : new RelayedBody(request.body);
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: request.method,
    headers,
    body: body?.stream ?? null,
    redirect: "manual",
    signal: request.signal,
  }).catch((error) => {
    throw body?.refusal ?? error;
  });
  const relayed = new Response(response.body, response);
  // Of the connection to the main thread. The server adds its own if it closes that of the caller.
  relayed.headers.delete("connection");
  return relayed;
}

/** The body of a request on its way to the main thread, by the rules of {@linkcode ChunkReader}. */
class RelayedBody {
  /** Why the body was refused; null if it was not. */
  refusal: GatewayError | null = null;
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;

  constructor(body: ReadableStream<Uint8Array<ArrayBuffer>>) {
    const reader = new ChunkReader(body, () => {});
    this.stream = new ReadableStream({
      pull: async (controller) => {
        try {
          const chunk = await reader.next();
          if (chunk === null) controller.close();
          else controller.enqueue(chunk);
        } catch (error) {
          if (error instanceof GatewayError) this.refusal = error;
          throw error;
        }
      },
      cancel: () => reader.cancel(),
    }, { highWaterMark: 0 });
  }
}

/** Where a relayed request came from. */
interface Origin {
  readonly token: string;
  readonly hostname: string;
  readonly port: number;
  /** The address of the request as it was sent. */
  readonly url: string;
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
    const { hostname, port } = origin;
    return await handler(request, { remoteAddr: { transport: "tcp", hostname, port }, completed: info.completed });
  };
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
