import type { Clock } from "../../src/platform/lib/basics/clock.ts";

/**
 * Returns a clock that runs faster than the machine's, the same for every process with the same start.
 *
 * @param startMs Unix milliseconds when both clocks were equal.
 * @param speed Its seconds per second of the machine's clock.
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
