import type { Candidate } from "./candidates.ts";
import type { CircuitBreaker } from "./circuit_breaker.ts";

/** What a failed attempt means for the next one. */
export interface Judgement {
  /** Another provider may succeed. */
  readonly isRetryable: boolean;
  /** The failure speaks against the provider, and not against the request. */
  readonly isProvidersFault: boolean;
}

/**
 * Tries candidates one after the other, each once, until one answers. The last failure is thrown when none does; one that
 * is not retryable at once. Source: DESIGN section 4, "Routing".
 *
 * @param attempt Resolves before the first byte goes to the caller, so that a failure can still be mended elsewhere.
 * @param judge Reads a failure; errors that are no upstream's are given as they are and never retried.
 * @param onFailure Told of every failure that is followed by another attempt.
 */
export async function tryInTurn<T>(
  candidates: readonly Candidate[],
  breaker: CircuitBreaker,
  attempt: (candidate: Candidate) => Promise<T>,
  judge: (error: unknown) => Judgement,
  onFailure: (candidate: Candidate, error: unknown) => void,
): Promise<T> {
  let telling: { readonly error: unknown } | null = null;
  for (let at = 0;; at++) {
    const candidate = candidates[at];
    breaker.begins(candidate.provider);
    try {
      const result = await attempt(candidate);
      breaker.succeeded(candidate.provider);
      return result;
    } catch (error) {
      const { isRetryable, isProvidersFault } = judge(error);
      if (isProvidersFault) breaker.failed(candidate.provider);
      else breaker.saidNothing(candidate.provider);
      if (!isRetryable) throw error;
      // Of several failures the one of a provider that was asked says more than one that could not be asked.
      if (isProvidersFault || telling === null) telling = { error };
      if (at === candidates.length - 1) throw telling.error;
      onFailure(candidate, error);
    }
  }
}
