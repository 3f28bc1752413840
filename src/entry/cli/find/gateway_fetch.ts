import { request as httpRequest } from "node:http";

/** A request to a gateway. Each field has the meaning that it has for `fetch`. */
export interface GatewayRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | null;
  readonly signal?: AbortSignal;
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/** Statuses of responses without a body. Source: Fetch standard, "null body status". */
const NULL_BODY_STATUSES: ReadonlySet<number> = new Set([204, 205, 304]);

/** Whether the host of a URL is this machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/**
 * Calls a gateway without following redirects. A gateway on this machine is called directly: `fetch` would send the
 * request with the admin key to the proxy in `HTTP_PROXY`.
 *
 * @throws {TypeError} If the gateway does not respond, as for `fetch`.
 */
export function gatewayFetch(url: string, request: GatewayRequest = {}): Promise<Response> {
  const { protocol, hostname } = new URL(url);
  if (protocol !== "http:" || !isLoopback(hostname)) return fetch(url, { ...request, redirect: "manual" });
  return fetchDirectly(url, request);
}

function fetchDirectly(url: string, { method = "GET", headers, body, signal }: GatewayRequest): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const fail = (cause: Error) => reject(new TypeError(`Cannot call ${new URL(url).host}`, { cause }));
  const outgoing = httpRequest(url, { method, headers, agent: false, signal }, (incoming) => {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    incoming.on("data", (chunk: Uint8Array<ArrayBuffer>) => chunks.push(chunk));
    incoming.on("error", fail);
    incoming.on("end", () => {
      const status = incoming.statusCode ?? 0;
      const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
        values.map((value): [string, string] => [name, value])
      );
      resolve(new Response(NULL_BODY_STATUSES.has(status) ? null : new Blob(chunks), { status, headers }));
    });
  });
  outgoing.on("error", fail);
  outgoing.end(body);
  return promise;
}
