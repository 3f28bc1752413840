import type { Clock } from "../../src/lib/clock.ts";

/**
 * A clock that runs faster than the machine's, the same for every process that is given the same start.
 *
 * @param startMs Unix milliseconds when both clocks said the same.
 * @param speed How many of its seconds pass in one of the machine's.
 */
export function fastClock(startMs: number, speed: number): Clock {
  return {
    now: () => Math.floor(startMs + (Date.now() - startMs) * speed),
    monotonicMs: () => performance.now() * speed,
    after(delayMs, callback) {
      const timer = setTimeout(callback, delayMs / speed);
      return () => clearTimeout(timer);
    },
  };
}
