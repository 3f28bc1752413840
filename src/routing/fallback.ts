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
export async function tryInOrder<T>(
  candidates: readonly Candidate[],
  { breaker, accountId, rule, onFallback }: FallbackOptions,
  attempt: (candidate: Candidate) => Promise<T>,
): Promise<T> {
  const failures: unknown[] = [];
  let previous: Candidate | null = null;
  for (const candidate of candidates) {
    if (previous !== null) onFallback(previous, failures.at(-1));
    previous = candidate;
    const report = breaker.onStart(candidate, accountId);
    try {
      const result = await attempt(candidate);
      report.succeeded();
      return result;
    } catch (error) {
      report.failed(error);
      if (!isFallbackAllowed(error, rule)) throw error;
      failures.push(error);
    }
  }
  throw bestFailure(failures);
}
