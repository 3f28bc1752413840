import type { RequestRouter } from "../http/request_handler.ts";
import type { Inbound } from "../http/inbound.ts";

/** The header fields of a browser's request that an endpoint gets. Cookies and credentials are not among them. */
const FORWARDED_FIELDS = ["accept", "content-length", "content-type", "idempotency-key"];

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
  const { request, method, query, requestId, receivedAt, remote, record, memory, peerPort, responseFields } = inbound;
  const headers = new Headers({ authorization: `Bearer ${key}` });
  for (const name of FORWARDED_FIELDS) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return {
    request: hasBody ? new Request(request, { headers }) : new Request(request.url, { headers }),
    method,
    path,
    query,
    params: {},
    requestId,
    receivedAt,
    remote,
    record,
    memory,
    ...peerPort !== undefined && { peerPort },
    ...responseFields !== undefined && { responseFields },
  };
}

/**
 * Calls an endpoint of the gateway with the key of a session.
 *
 * @throws {GatewayError} What the router and the endpoint throw.
 */
export async function forwardCall(router: RequestRouter, inbound: Inbound, call: ForwardedCall): Promise<Response> {
  const forwarded = forwardedInbound(inbound, call);
  const match = router.match(forwarded.method, call.path, forwarded.request.headers);
  if (match.route === null) throw match.error;
  return await match.route.handler({ ...forwarded, path: match.address, params: match.params });
}
