import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { ReplyEvent } from "../../neutral/events.ts";

/**
 * The error for a failure that a vendor reported in its stream. A vendor that rejects the gateway's own key (401) is an
 * `upstream_error`, because the request was not at fault.
 */
export function failureOf({ message, vendorCode, status }: ReplyEvent & { type: "error" }): GatewayError {
  const text = message || "The provider reported a failure without a message";
  const details = vendorCode === null ? {} : { vendorCode };
  if (status === 429) return new GatewayError("rate_limited", text, details);
  if (status === 504) return new GatewayError("upstream_timeout", text, details);
  if (status === 403) return new GatewayError("permission_denied", text, details);
  if (status !== null && status >= 400 && status < 500 && status !== 401) {
    return new GatewayError("invalid_request", text, { ...details, status });
  }
  return new GatewayError("upstream_error", text, details);
}
