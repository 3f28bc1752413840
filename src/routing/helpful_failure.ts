import { UpstreamFailure } from "../upstreams/failure.ts";

/**
 * Of several failures the one that helps the caller most: first those that a retry can mend, the one that says when
 * before all others; then the vendor's own failures; last what only the operator can mend. The first of equals.
 *
 * @param failures Never empty; what `isFallbackAllowed` lets pass.
 */
export function bestFailure(failures: readonly unknown[]): unknown {
  return failures.reduce((best, failure) => rankOf(failure) < rankOf(best) ? failure : best);
}

/** Lower is more helpful. */
function rankOf(error: unknown): number {
  // A format that cannot express the request: the caller can change the request, but then one vendor fewer was asked.
  if (!(error instanceof UpstreamFailure)) return 6;
  const { status, retryAfterSeconds } = error.facts;
  switch (error.kind) {
    case "rate_limited":
      return retryAfterSeconds === undefined ? 1 : 0;
    case "unavailable":
      // By these two a vendor says that it is overloaded (RFC 9110, 15.6.4; Messages API reference, "Errors").
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
