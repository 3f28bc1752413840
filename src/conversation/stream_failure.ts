import { GatewayError } from "../lib/gateway_error.ts";
import type { ReplyEvent } from "./events.ts";

/**
 * A failure that a vendor reported inside its stream, as the caller is told it. A vendor that refuses the gateway's own
 * key found no fault with the request.
 */
export function failureOf({ message, vendorCode, status }: ReplyEvent & { type: "error" }): GatewayError {
  const words = message || "The provider reported a failure without a message";
  const word = vendorCode === null ? {} : { vendorCode };
  if (status === 429) return new GatewayError("rate_limited", words, word);
  if (status === 504) return new GatewayError("upstream_timeout", words, word);
  if (status === 403) return new GatewayError("permission_denied", words, word);
  if (status !== null && status >= 400 && status < 500 && status !== 401) {
    return new GatewayError("invalid_request", words, { ...word, status });
  }
  return new GatewayError("upstream_error", words, word);
}
