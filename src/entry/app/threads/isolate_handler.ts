import type { Config } from "../../../config/config.ts";
import { isTextPath } from "../../../platform/endpoints/text_paths.ts";
import { isRefused } from "../../../platform/http/front_door_checks.ts";
import { HeaderFields } from "../../../platform/http/request/headers.ts";
import { createRequestHandler, type RequestHandlerOptions } from "../../../platform/http/request_handler.ts";
import type { ThreadRelay } from "../../../threads/isolates/relay.ts";
import { isSurelySmall } from "../../../threads/large_requests/large_route.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";

/** Options of {@linkcode createIsolateHandler}. */
export interface IsolateHandlerOptions extends RequestHandlerOptions {
  /** Sends the requests that an isolate does not answer to the main thread. */
  readonly relay: ThreadRelay;
  /** The limits of the configuration in force. */
  readonly limits: () => Pick<Config["limits"], "largeBodyBytes">;
}

/** Handles one request that an isolate accepted. */
export type IsolateHandler = (
  request: Request,
  info: Deno.ServeHandlerInfo<Deno.NetAddr>,
) => MaybePromise<Response>;

/**
 * Creates the handler of an isolate. It answers small text requests, and sends all other requests to the main thread,
 * or to a thread for large requests by way of it.
 */
export function createIsolateHandler(
  { relay, limits, ...options }: IsolateHandlerOptions,
): IsolateHandler {
  const handler = createRequestHandler(options);
  let refusal: GatewayError | null = null;
  const refuseNext = createRequestHandler({
    ...options,
    router: {
      ...options.router,
      match() {
        throw refusal ?? unreachable();
      },
    },
  });
  /** Refuses a request that the main thread does not take, as while it ends, in the protocol of its path. */
  const refuse = (error: GatewayError | null, ...request: Parameters<IsolateHandler>) => {
    refusal = error; // the handler matches before it returns
    return refuseNext(...request);
  };
  return (request, info) => {
    // A request with bad framing would be sent on with good framing, so it is refused where its connection is.
    if (isOwn(request, limits()) || isRefused(request, new HeaderFields(request.headers))) {
      return handler(request, info);
    }
    return relay.send(request, info).catch((error) => {
      if (request.signal.aborted) return new Response(null, { status: 503 }); // its caller has left
      return refuse(error instanceof GatewayError ? error : null, request, info);
    });
  };
}

/** Whether this thread answers a request. Others need the main thread, or a thread for large requests. */
function isOwn(request: Request, { largeBodyBytes }: Pick<Config["limits"], "largeBodyBytes">): boolean {
  if (request.method !== "POST") return false;
  const { url } = request;
  const start = url.indexOf("/", "https://".length);
  const end = url.indexOf("?", start);
  if (!isTextPath(url.slice(start, end < 0 ? undefined : end))) return false;
  const { headers } = request;
  // Streams that can be resumed and dry runs, which are limited together, are all on the main thread.
  return isSurelySmall(headers.get("content-length"), largeBodyBytes) && headers.get("content-encoding") === null &&
    headers.get("x-service-resume") === null &&
    headers.get("x-service-dry-run") === null;
}

function unreachable(): GatewayError {
  return new GatewayError("overloaded", "The main thread of the gateway does not take requests now. Retry later", {
    retryAfterSeconds: 1,
  });
}
