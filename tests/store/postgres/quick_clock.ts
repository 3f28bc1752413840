import { type Clock, systemClock } from "../../../src/platform/lib/basics/clock.ts";

/** The system's clock, whose durations pass more quickly. */
export function quickClock(factor: number): Clock {
  return {
    now: systemClock.now,
    monotonicMs: () => systemClock.monotonicMs() * factor,
    after: (delayMs, callback) => systemClock.after(delayMs / factor, callback),
  };
}
