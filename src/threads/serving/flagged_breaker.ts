import type { Clock } from "../../platform/lib/basics/clock.ts";
import type { AttemptReport, AttemptTarget, CircuitBreaker } from "../../vendors/routing/circuit_breaker.ts";
import { OPEN, QUIET } from "./circuit_flag.ts";

/** How long after a failure of this thread the main thread may not have set the flag yet. */
const SETTLING_MS = 250;

/** Attempts of one account that succeeded. */
export interface Successes {
  readonly target: AttemptTarget;
  readonly accountId: string;
  readonly count: number;
}

/** The dependencies of {@linkcode flaggedBreaker}. */
export interface FlaggedBreakerOptions {
  readonly shared: CircuitBreaker;
  /** The memory of a `CircuitFlag`. The main thread sets it. */
  readonly flag: SharedArrayBuffer;
  readonly clock: Clock;
  /** Called when there are successes to {@linkcode FlaggedBreaker.takeSuccesses}. */
  readonly onSuccess: () => void;
}

/** A breaker of a thread. */
export interface FlaggedBreaker extends CircuitBreaker {
  /** Takes the successes that the main thread was not told. */
  takeSuccesses(): Successes[];
}

/**
 * A breaker that asks the shared one only while a circuit may be open: a question blocks the thread until the main
 * thread answers. While no attempt has failed for a minute, it tells the main thread the number of successes alone.
 */
export function flaggedBreaker({ shared, flag, clock, onSuccess }: FlaggedBreakerOptions): FlaggedBreaker {
  const state = new Int32Array(flag);
  let settlingUntil = -Infinity;
  const successes = new Map<string, { readonly target: AttemptTarget; accountId: string; count: number }>();

  const isQuiet = () => Atomics.load(state, 0) === QUIET && clock.monotonicMs() >= settlingUntil;

  function noteFailure(report: AttemptReport, error: unknown): void {
    settlingUntil = clock.monotonicMs() + SETTLING_MS;
    report.failed(error);
  }

  function countSuccess(target: AttemptTarget, accountId: string): void {
    const key = `${target.provider}\n${target.model}`;
    const known = successes.get(key);
    if (known === undefined) successes.set(key, { target, accountId, count: 1 });
    else {
      known.accountId = accountId;
      known.count++;
    }
    onSuccess();
  }

  return {
    availabilityOf(target, accountId) {
      const mayBeOpen = Atomics.load(state, 0) === OPEN || clock.monotonicMs() < settlingUntil;
      return mayBeOpen ? shared.availabilityOf(target, accountId) : "available";
    },
    onStart(target, accountId) {
      if (!isQuiet()) {
        const report = shared.onStart(target, accountId);
        return { succeeded: () => report.succeeded(), failed: (error) => noteFailure(report, error) };
      }
      return {
        succeeded() {
          if (isQuiet()) countSuccess(target, accountId);
          else shared.onStart(target, accountId).succeeded();
        },
        failed: (error) => noteFailure(shared.onStart(target, accountId), error),
      };
    },
    health: () => shared.health(),
    takeSuccesses() {
      const taken = [...successes.values()];
      successes.clear();
      return taken;
    },
  };
}
