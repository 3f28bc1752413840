import type { GatewayError } from "../lib/gateway_error.ts";
import type { MemoryLease } from "../lib/memory_budget.ts";

/** A request as it came, once the front door has let it in. */
export interface Inbound {
  /** For its header fields, its body and the signal that fires when the caller leaves. */
  readonly request: Request;
  /** The method as sent, in upper case. */
  readonly method: string;
  /** The path as the address table knows it, without the query: as sent, but for guessed addresses; `%XX` untouched. */
  readonly path: string;
  /** The query without its question mark; may hold a credential, so it is never logged. */
  readonly query: string;
  /** Path parameters by name, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Made by the gateway; names the request in the log and in `X-Service-Request-Id`. */
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /** The peer's address. */
  readonly remote: string;
  /** What the request holds of the memory budget. It ends when the answer was sent or its sending failed. */
  readonly memory: MemoryLease;
}

/**
 * A path parameter of the route that matched.
 *
 * @throws {Error} If the route's path has no such parameter, which is a defect of the address table.
 */
export function pathParam(params: Inbound["params"], name: string): string {
  const value = params[name];
  if (value === undefined) throw new Error(`The route has no path parameter "${name}"`);
  return value;
}

/** Answers one endpoint. A failure is thrown as a {@linkcode GatewayError} and rendered by the route's protocol. */
export type Handler = (inbound: Inbound) => Response | Promise<Response>;

/**
 * How a protocol reports a failure: status, headers and body in its own shape. `asked` are the request's header fields,
 * for shapes that differ by client. Source: docs/api/errors.md#bodies.
 */
export type ErrorRenderer = (error: GatewayError, requestId: string, asked?: Headers) => Response;

/** One line of the address table. */
export interface Route {
  /** The one method that it answers. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /**
   * Segments from the root: `/v1/models/:provider/:model`. `:name` takes one segment; `:name*` takes the rest, slashes
   * included; a last segment `:name*:verb` or `:name::verb` takes a parameter that ends in `:verb`.
   */
  readonly path: string;
  /** Answers what the line matches. */
  readonly handler: Handler;
  /** Renders what `handler` throws, in the shape of the protocol that this line belongs to. */
  readonly renderError: ErrorRenderer;
}
