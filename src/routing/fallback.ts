import type { Candidate } from "./candidates.ts";
import type { CircuitBreaker } from "./circuit_breaker.ts";
import { type FallbackRule, isFallbackAllowed } from "./fallback_rule.ts";
import { bestFailure } from "./helpful_failure.ts";

/** What candidates are tried with. */
export interface FallbackOptions {
  readonly breaker: Pick<CircuitBreaker, "onStart">;
  /** The account that pays. */
  readonly accountId: string;
  readonly rule: FallbackRule;
  /** Called for every failure that is followed by another attempt. */
  readonly onFallback: (candidate: Candidate, error: unknown) => void;
}

/**
 * Tries candidates one after the other, each once, until one answers. When none does, the failure that helps the caller
 * most is thrown; a failure after which no other may be tried is thrown at once. Source: docs/api/routing.md#fallback.
 *
 * @param candidates Never empty.
 * @param attempt Resolves before the first byte goes to the caller, so that a failure can still be mended elsewhere.
 */
export async function tryInTurn<T>(
  candidates: readonly Candidate[],
  { breaker, accountId, rule, onFallback }: FallbackOptions,
  attempt: (candidate: Candidate) => Promise<T>,
): Promise<T> {
  const failures: unknown[] = [];
  for (const [index, candidate] of candidates.entries()) {
    const previous = candidates[index - 1];
    if (previous !== undefined) onFallback(previous, failures.at(-1));
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
