import { isRefused, pathStartOf } from "../../../platform/http/front_door_checks.ts";
import type { Route } from "../../../platform/http/request/inbound.ts";
import { HeaderFields } from "../../../platform/http/request/headers.ts";
import { createRequestHandler, type RequestHandlerOptions } from "../../../platform/http/request_handler.ts";
import type { ThreadRelay } from "../../../threads/serving/relay.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";

/** Options of {@linkcode createIsolateHandler}. */
export interface IsolateHandlerOptions extends RequestHandlerOptions {
  /** Sends the requests that an isolate does not answer to the main thread. */
  readonly relay: Pick<ThreadRelay, "send">;
  /** Returns the endpoint of a request among those that this thread answers; null if it is another one. */
  readonly serves: (method: string, path: string, headers: Headers) => Route | null;
}

/** Handles one request that an isolate accepted. */
export type IsolateHandler = (
  request: Request,
  info: Deno.ServeHandlerInfo<Deno.NetAddr>,
) => MaybePromise<Response>;

/** Creates the handler of an isolate. It answers what it serves, and sends all other requests to the main thread. */
export function createIsolateHandler(
  { relay, serves, ...options }: IsolateHandlerOptions,
): IsolateHandler {
  const handler = createRequestHandler(options);
  let refusal: GatewayError | null = null;
  const refuseNext = createRequestHandler({
    ...options,
    router: {
      ...options.router,
      match() {
        throw refusal ?? mainThreadUnreachable();
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
    if (isOwn(request, serves) || isRefused(request, new HeaderFields(request.headers))) {
      return handler(request, info);
    }
    return relay.send(request, info).catch((error) => {
      if (request.signal.aborted) return new Response(null, { status: 503 }); // its caller has left
      return refuse(error instanceof GatewayError ? error : null, request, info);
    });
  };
}

/** Whether this thread reads a request. Others need the main thread. A large text goes on to another thread. */
function isOwn(request: Request, serves: IsolateHandlerOptions["serves"]): boolean {
  const { url, method, headers } = request;
  const start = pathStartOf(url);
  if (start < 0) return false;
  const end = url.indexOf("?", start);
  if (serves(method, url.slice(start, end < 0 ? undefined : end), headers) === null) return false;
  if (method === "GET" || method === "HEAD") return true;
  // Streams that can be resumed and dry runs, which are limited together, are all on the main thread.
  return headers.get("content-encoding") === null && headers.get("x-service-resume") === null &&
    headers.get("x-service-dry-run") === null;
}

function mainThreadUnreachable(): GatewayError {
  return new GatewayError("overloaded", "The main thread of the gateway does not take requests now. Retry later", {
    retryAfterSeconds: 1,
  });
}
