import type { RequestRouter } from "../platform/http/request_handler.ts";
import type { Inbound } from "../platform/http/request/inbound.ts";
import type { JsonObject } from "../platform/lib/json/json_object.ts";

/** The header fields of a browser's request that an endpoint gets. Cookies and credentials are not among them. */
const FORWARDED_FIELDS = [
  "accept",
  "anthropic-version",
  "content-length",
  "content-type",
  "idempotency-key",
  "if-range",
  "range",
  "x-service-dry-run",
];

/** Endpoints read the path of the call, not the address of its request. */
const NO_ADDRESS = "http://localhost/";

/** A request to another endpoint of the gateway. */
export interface ForwardedCall {
  /** As it was sent, without the query. */
  readonly path: string;
  /** The admin key or API key of the session. */
  readonly key: string;
  /** Whether the endpoint gets the body of the request. */
  readonly hasBody: boolean;
}

/** The request as one to another endpoint, with the key of the session in place of its cookie. */
export function forwardedInbound(inbound: Inbound, { path, key, hasBody }: ForwardedCall): Inbound {
  const { request } = inbound;
  const headers = new Headers({ authorization: `Bearer ${key}` });
  for (const name of FORWARDED_FIELDS) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const { peerPort, responseFields } = inbound;
  return {
    ...withRequest(inbound, path, hasBody ? new Request(request, { headers }) : new Request(NO_ADDRESS, { headers })),
    ...peerPort !== undefined && { peerPort },
    ...responseFields !== undefined && { responseFields },
  };
}

function withRequest(inbound: Inbound, path: string, request: Request): Inbound {
  const { method, endpoint, query, requestId, receivedAt, remote, record, memory } = inbound;
  return { request, method, path, endpoint, query, params: {}, requestId, receivedAt, remote, record, memory };
}

/**
 * Calls an endpoint of the gateway with the key of a session. The log of requests has the endpoint in place of the
 * console's own.
 *
 * @throws {GatewayError} What the router and the endpoint throw.
 */
export async function forwardCall(router: RequestRouter, inbound: Inbound, call: ForwardedCall): Promise<Response> {
  const forwarded = forwardedInbound(inbound, call);
  const match = matchOf(router, forwarded);
  inbound.record.endpoint = match.route.path;
  return await match.route.handler({ ...forwarded, path: match.address, endpoint: match.route, params: match.params });
}

/** A request of the console itself. */
export interface OwnCall extends Pick<ForwardedCall, "path" | "key"> {
  readonly body: JsonObject;
}

/**
 * Sends a POST of the console itself, on behalf of a request.
 *
 * @throws {GatewayError} What the router and the endpoint throw.
 */
export async function sendOwnCall(router: RequestRouter, inbound: Inbound, call: OwnCall): Promise<Response> {
  const { path, key, body } = call;
  const request = new Request(NO_ADDRESS, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const own = { ...withRequest(inbound, path, request), method: "POST", query: "" };
  const match = matchOf(router, own);
  return await match.route.handler({ ...own, path: match.address, endpoint: match.route, params: match.params });
}

function matchOf(router: RequestRouter, { method, path, request }: Inbound) {
  const match = router.match(method, path, request.headers);
  if (match.route === null) throw match.error;
  return match;
}
