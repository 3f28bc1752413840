import type { Clock } from "../../src/platform/lib/basics/clock.ts";

/** How far the clock of a gateway's machine is ahead of the store's, in the tests with two clocks. */
export const HOST_CLOCKS: Readonly<Record<string, number>> = {
  "the store's clock": 0,
  "a clock two hours behind the store's": -2 * 3_600_000,
  "a clock one hour ahead of the store's": 3_600_000,
};

/** The clock of a machine whose time differs from the store's. */
export function hostClock(store: Clock, aheadMs: number): Clock {
  return {
    now: () => store.now() + aheadMs,
    monotonicMs: () => store.monotonicMs(),
    after: (delayMs, callback) => store.after(delayMs, callback),
  };
}
