import type { Endpoint } from "../../endpoints/endpoint.ts";
import { type GatewayError, invalidField } from "../../lib/basics/gateway_error.ts";
import type { JsonScan } from "../../lib/json/json.ts";
import type { MaybePromise } from "../../lib/basics/maybe_promise.ts";
import type { HeldMemory } from "../../lib/process/memory_budget.ts";
import type { RequestRecord } from "./request_record.ts";

/** A body that was read before its handler was chosen, or has no connection. Its memory is that of the request. */
export interface ReceivedBody {
  /** UTF-8 without a byte order mark, unless it is invalid. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The outline of `bytes` as JSON. Absent: it was not scanned. */
  readonly scan?: JsonScan;
}

/** A request that the front door has accepted. */
export interface Inbound {
  /** For its header fields, its body, and the signal that fires when the caller disconnects. */
  readonly request: Request;
  /** The header fields of `request`, which cost less to read here. Absent if the request is in memory. */
  readonly headers?: Pick<Headers, "get">;
  /** The body, if it was read to choose the handler, or has no connection. The request's own body is used then. */
  readonly received?: ReceivedBody;
  /** The method as sent, in upper case. */
  readonly method: string;
  /** The address as sent, with the host that the client asked for. Absent if the request is in memory. */
  readonly address?: string;
  /** The path without the query, as sent except for corrected addresses; `%XX` unchanged. */
  readonly path: string;
  /** The endpoint of the matched route. */
  readonly endpoint: Endpoint;
  /** The query without its question mark. It may contain a credential and is never logged. */
  readonly query: string;
  /** Path parameters by name, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Assigned by the gateway; logged and returned as `X-Service-Request-Id`. */
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /** The client's IP address: the peer's, or the one that trusted proxies forwarded. */
  readonly remote: string;
  /** The port of the peer. Absent if the body is in memory. */
  readonly peerPort?: number;
  /**
   * Returns the header fields of every response, by lower-case name: the request's ids, and what browsers need. A
   * handler that calls it builds its response with them. To any other response they are added at the end, which costs
   * more than building a response. Absent where the response is copied, as in threads.
   */
  readonly responseFields?: () => Record<string, string>;
  /** Collects what happens to the request, for the log. */
  readonly record: RequestRecord;
  /**
   * Adds header fields that belong to the caller to those of every response, errors included. Set by authentication;
   * absent or null for none.
   */
  callerFields?: ((fields: Record<string, string>) => void) | null;
  /** The name of the admin key that the request is from. Set by the admin API. */
  operator?: string;
  /** Whether that key has the role `owner`, so that it may read what callers wrote. Set by the admin API. */
  isOwner?: boolean;
  /** The memory lease of the request. It ends when the response was sent or sending failed. */
  readonly memory: HeldMemory;
}

/**
 * Copies a request with other values. Properties of a request are computed on demand, so they are copied one by one.
 * What the front door sets later is set on the original alone.
 */
export function changedInbound(inbound: Inbound, changes: Partial<Inbound>): Inbound {
  const { request, headers, method, address, path, endpoint, query, params, requestId, receivedAt, remote, memory } =
    inbound;
  const { received, peerPort, responseFields, record } = inbound;
  return {
    request,
    method,
    path,
    endpoint,
    query,
    params,
    requestId,
    receivedAt,
    remote,
    record,
    memory,
    ...received !== undefined && { received },
    ...address !== undefined && { address },
    ...headers !== undefined && { headers },
    ...peerPort !== undefined && { peerPort },
    ...responseFields !== undefined && { responseFields },
    ...changes,
  };
}

/**
 * A path parameter of the matched route.
 *
 * @throws {Error} If the route has no such parameter, which is a programming error.
 */
export function pathParam(params: Inbound["params"], name: string): string {
  const value = params[name];
  if (value === undefined) throw new Error(`The route has no path parameter "${name}"`);
  return value;
}

/** Which parameters the query of a list may have. */
export interface ListParameters {
  /** Whether a parameter of the name may be there. */
  readonly isKnown: (name: string) => boolean;
  /** What the refusal of an unknown one says: `expected after or limit`. */
  readonly expectation: string;
  /** Whether each may be there once only. Default: false. */
  readonly isOnce?: boolean;
}

/** The sizes of the pages of a list. */
export interface PageSizes {
  /** Without a limit. */
  readonly usual: number;
  /** The largest that a client can ask for. */
  readonly max: number;
}

/**
 * Reads the query of a list that clients of vendors page through.
 *
 * @param text Without its question mark.
 * @throws {GatewayError} `invalid_request` that names a parameter that is unknown or repeated.
 */
export function readListQuery(text: string, { isKnown, expectation, isOnce = false }: ListParameters): URLSearchParams {
  const query = new URLSearchParams(text);
  const names = [...query.keys()];
  for (const [index, name] of names.entries()) {
    if (!isKnown(name)) throw invalidField(name.slice(0, 100), expectation);
    if (isOnce && names.indexOf(name) !== index) throw invalidField(name, "expected it once");
  }
  return query;
}

/** The parameter `limit`. @throws {GatewayError} `invalid_request`. */
export function limitIn(query: URLSearchParams, { usual, max }: PageSizes): number {
  const text = query.get("limit");
  if (text === null) return usual;
  const limit = /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > max) throw invalidField("limit", `expected 1 to ${max}`);
  return limit;
}

/** A parameter that has one of some values; null without it. @throws {GatewayError} `invalid_request`. */
export function oneOfIn<T extends string>(query: URLSearchParams, name: string, values: readonly T[]): T | null {
  const text = query.get(name);
  if (text === null) return null;
  const value = values.find((each) => each === text);
  if (value === undefined) throw invalidField(name, `expected one of ${values.join(", ")}`);
  return value;
}

/** Handles one endpoint. A failure is thrown as a {@linkcode GatewayError} and rendered in the route's protocol. */
export type Handler = (inbound: Inbound) => MaybePromise<Response>;

/**
 * Renders an error in a protocol: status, headers and body. `asked` are the request's header fields, for formats that
 * differ by client. `docUrl` is where the error is described, for bodies whose clients accept further members.
 * Source: docs/api/errors.md#bodies.
 */
export type ErrorRenderer = (error: GatewayError, requestId: string, asked?: Headers, docUrl?: string) => Response;

/** One route: an endpoint at one of its paths, with what answers there. */
export interface Route extends Endpoint {
  /** Handles matching requests. */
  readonly handler: Handler;
  /** Renders what `handler` throws in the protocol of this route. */
  readonly renderError: ErrorRenderer;
}
