import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { UpstreamFailure } from "../upstreams/call/failure.ts";

/** The failures after which a request is sent to the next provider. */
export interface FallbackRule {
  /** After a failure with an unknown outcome: the work may then be done, and paid for, twice. */
  readonly afterUnknownOutcome: boolean;
  /** After the provider's wire format could not express the request; another vendor's format may. */
  readonly afterUnsupportedRequest: boolean;
}

/** Text responses and token counts: a second response costs little compared with a failed call. */
export const TEXT_FALLBACK: FallbackRule = { afterUnknownOutcome: true, afterUnsupportedRequest: true };

/** Cached contents: a vendor charges by the hour for one that the gateway does not know about. */
export const CACHE_FALLBACK: FallbackRule = { afterUnknownOutcome: false, afterUnsupportedRequest: true };

/** Images and videos: each is charged. A reference that one provider cannot read, no provider can read. */
export const MEDIA_FALLBACK: FallbackRule = { afterUnknownOutcome: false, afterUnsupportedRequest: false };

/** Whether another provider may be tried after the failure. */
export function isFallbackAllowed(error: unknown, rule: FallbackRule): boolean {
  if (error instanceof UpstreamFailure) {
    return error.isRetryable && (rule.afterUnknownOutcome || error.facts.accepted === "no");
  }
  return rule.afterUnsupportedRequest && isUnsupportedRequest(error);
}

/** Whether a provider's wire format could not express the request, so that nothing was sent. */
function isUnsupportedRequest(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "invalid_request";
}
