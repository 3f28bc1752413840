import { GatewayError } from "../lib/gateway_error.ts";
import type { Log, LogFields } from "../lib/log.ts";
import type { Candidate } from "./candidates.ts";
import type { Judgement } from "./fallback.ts";
import { gatewayErrorFor, UpstreamFailure } from "../upstreams/failure.ts";

/**
 * What a failed attempt means for the next one. That a vendor's form cannot say the request is no failure of the
 * vendor's, and another vendor's form may.
 */
export function judgeFailure(error: unknown): Judgement {
  if (error instanceof UpstreamFailure) return error;
  const isUnsayable = error instanceof GatewayError && error.code === "invalid_request";
  return { isRetryable: isUnsayable, isProvidersFault: false };
}

/**
 * As {@linkcode judgeFailure}, for work that is paid for each time it is done, such as pictures and caches: another provider
 * is tried only when this one surely has not begun.
 */
export function judgePaidWork(error: unknown): Judgement {
  const judgement = judgeFailure(error);
  const isUnknown = error instanceof UpstreamFailure && error.facts.accepted === "unknown";
  return { isRetryable: judgement.isRetryable && !isUnknown, isProvidersFault: judgement.isProvidersFault };
}

/** What no attempt could mend, as the caller is told it. */
export function errorForCaller(error: unknown): unknown {
  return error instanceof UpstreamFailure ? gatewayErrorFor(error) : error;
}

/** Tells the operator that a provider was passed over. */
export function logFallback(log: Log, { provider, model }: Candidate, error: unknown, requestId?: string): void {
  log.warn("upstream_failed_over", { requestId, provider, model, ...loggedFailureOf(error) });
}

/** What the log says of a failure: the word to decide by, and the vendor's status where there was one. */
export function loggedFailureOf(error: unknown): Pick<LogFields, "code" | "status"> {
  if (error instanceof UpstreamFailure) return { code: error.kind, status: error.facts.status ?? undefined };
  return { code: error instanceof GatewayError ? error.code : "internal_error" };
}
