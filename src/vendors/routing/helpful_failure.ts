import { UpstreamFailure } from "../upstreams/call/failure.ts";

/**
 * Selects the most helpful failure for the caller: first failures that a retry can solve, with a stated retry time
 * before others; then the vendor's own failures; last those that only the operator can fix. The first of equal failures
 * is returned.
 *
 * @param failures At least one; only failures that `isFallbackAllowed` accepts.
 */
export function bestFailure(failures: readonly unknown[]): unknown {
  return failures.reduce((best, failure) => rankOf(failure) < rankOf(best) ? failure : best);
}

/** Lower is more helpful. */
function rankOf(error: unknown): number {
  // The wire format cannot express the request: the caller can change it, but one vendor less was tried.
  if (!(error instanceof UpstreamFailure)) return 6;
  const { status, retryAfterSeconds } = error.facts;
  switch (error.kind) {
    case "rate_limited":
      return retryAfterSeconds === undefined ? 1 : 0;
    case "unavailable":
      // Statuses by which vendors report overload (RFC 9110, 15.6.4; Messages API reference, "Errors").
      return status === 503 || status === 529 ? 2 : 4;
    case "timeout":
      return 3;
    case "forbidden":
      return 7;
    case "auth":
      return 8;
    default:
      return 5;
  }
}
