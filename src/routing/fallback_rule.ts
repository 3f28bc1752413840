import { GatewayError } from "../lib/gateway_error.ts";
import { UpstreamFailure } from "../upstreams/failure.ts";

/** After which failures a request is offered to the next provider. */
export interface FallbackRule {
  /** After a failure that leaves open whether the vendor did the work: it may then be done, and paid, twice. */
  readonly afterUnknownOutcome: boolean;
  /** After the provider's wire format could not express the request: another vendor's may. */
  readonly afterUnsupportedRequest: boolean;
}

/** Replies in text and token counts: a second reply costs little beside a failed call. */
export const TEXT_FALLBACK: FallbackRule = { afterUnknownOutcome: true, afterUnsupportedRequest: true };

/** Cached contents: one that a vendor keeps unknown to the gateway is paid for by the hour. */
export const CACHE_FALLBACK: FallbackRule = { afterUnknownOutcome: false, afterUnsupportedRequest: true };

/** Pictures and videos: each is paid. A reference that cannot be read at one provider cannot be read at another. */
export const MEDIA_FALLBACK: FallbackRule = { afterUnknownOutcome: false, afterUnsupportedRequest: false };

/** Whether another provider may be tried after the failure. */
export function isFallbackAllowed(error: unknown, rule: FallbackRule): boolean {
  if (error instanceof UpstreamFailure) {
    return error.isRetryable && (rule.afterUnknownOutcome || error.facts.accepted === "no");
  }
  return rule.afterUnsupportedRequest && isUnsupportedRequest(error);
}

/** Whether a provider's wire format could not express the request, so that the vendor was not asked. */
function isUnsupportedRequest(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "invalid_request";
}
