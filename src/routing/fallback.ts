import type { Candidate } from "./candidates.ts";
import type { CircuitBreaker } from "./circuit_breaker.ts";
import { type FallbackRule, isFallbackAllowed } from "./fallback_rule.ts";
import { bestFailure } from "./helpful_failure.ts";

/** Options of {@linkcode tryInOrder}. */
export interface FallbackOptions {
  readonly breaker: Pick<CircuitBreaker, "onStart">;
  /** The account that is charged. */
  readonly accountId: string;
  readonly rule: FallbackRule;
  /** Called for every failure that is followed by another attempt. */
  readonly onFallback: (candidate: Candidate, error: unknown) => void;
}

/**
 * Tries candidates in order, each once, until one succeeds. If all fail, the failure that is most helpful to the caller
 * is thrown. A failure that excludes further attempts is thrown at once. Source: docs/api/routing.md#fallback.
 *
 * @param candidates At least one.
 * @param attempt Resolves before the first byte is sent to the caller, so that another candidate can still be used.
 */
export function tryInOrder<T>(
  candidates: readonly Candidate[],
  options: FallbackOptions,
  attempt: (candidate: Candidate) => Promise<T>,
): Promise<T> {
  return tryAfter([], candidates, options, attempt);
}

function tryAfter<T>(
  failures: readonly unknown[],
  candidates: readonly Candidate[],
  options: FallbackOptions,
  attempt: (candidate: Candidate) => Promise<T>,
): Promise<T> {
  const candidate = candidates[failures.length];
  if (candidate === undefined) return Promise.reject(bestFailure(failures));
  const report = options.breaker.onStart(candidate, options.accountId);
  return started(attempt, candidate).then((result) => {
    report.succeeded();
    return result;
  }, (error: unknown) => {
    report.failed(error);
    if (!isFallbackAllowed(error, options.rule)) throw error;
    if (failures.length + 1 < candidates.length) options.onFallback(candidate, error);
    return tryAfter([...failures, error], candidates, options, attempt);
  });
}

/** An attempt that fails before it waits for anything fails like any other. */
function started<T>(attempt: (candidate: Candidate) => Promise<T>, candidate: Candidate): Promise<T> {
  try {
    return attempt(candidate);
  } catch (error) {
    return Promise.reject(error);
  }
}
