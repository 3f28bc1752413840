import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";

const RETRY_AFTER_SECONDS = 5;

/** The error of a request whose thread ended. */
export function threadEnded(): GatewayError {
  const message = "Cannot finish the request: the worker that handled it ended; send it again";
  return new GatewayError("route_error", message);
}

/** The error of a request that finds too many others in the queue. */
export function tooManyQueued(): GatewayError {
  const message = "Too many large requests are queued; retry in a few seconds";
  return new GatewayError("overloaded", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** The error of a request whose caller has left. Nobody receives it. */
export function callerLeft(): GatewayError {
  return new GatewayError("route_error", "The caller disconnected");
}
