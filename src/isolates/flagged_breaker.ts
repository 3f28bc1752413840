import type { Clock } from "../lib/clock.ts";
import type { CircuitBreaker } from "../routing/circuit_breaker.ts";

/** How long after a failure of this thread the main thread may not have set the flag yet. */
const SETTLING_MS = 250;

/**
 * A breaker that asks the shared one only while a circuit may be open: a question blocks the thread until the main
 * thread answers.
 *
 * @param flag The first number is 0 while no circuit is open. The main thread sets it.
 */
export function flaggedBreaker(shared: CircuitBreaker, flag: SharedArrayBuffer, clock: Clock): CircuitBreaker {
  const isAnyOpen = new Int32Array(flag);
  let settlingUntil = -Infinity;
  return {
    availabilityOf(target, accountId) {
      const mayBeOpen = Atomics.load(isAnyOpen, 0) !== 0 || clock.monotonicMs() < settlingUntil;
      return mayBeOpen ? shared.availabilityOf(target, accountId) : "available";
    },
    onStart(target, accountId) {
      const report = shared.onStart(target, accountId);
      return {
        succeeded: () => report.succeeded(),
        failed(error) {
          settlingUntil = clock.monotonicMs() + SETTLING_MS;
          report.failed(error);
        },
      };
    },
    health: () => shared.health(),
  };
}
