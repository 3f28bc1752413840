import { request as httpRequest } from "node:http";

/** A request to a gateway; each part as `fetch` takes it. */
export interface GatewayRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/** Statuses of which a `Response` takes no body. Source: Fetch standard, "null body status". */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Whether an address is one of this machine, as a host of a URL names it. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/**
 * Calls a gateway and follows no redirect. One on this machine is called directly: `fetch` would send the request, the
 * admin key included, to the proxy that `HTTP_PROXY` names.
 *
 * @throws {TypeError} If it does not answer, as `fetch` does.
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
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    incoming.on("data", (piece: Uint8Array<ArrayBuffer>) => pieces.push(piece));
    incoming.on("error", fail);
    incoming.on("end", () => {
      const status = incoming.statusCode ?? 0;
      resolve(new Response(WITHOUT_BODY.has(status) ? null : new Blob(pieces), { status }));
    });
  });
  outgoing.on("error", fail);
  outgoing.end(body);
  return promise;
}
