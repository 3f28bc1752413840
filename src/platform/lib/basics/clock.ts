import { MonotonicClock } from "./monotonic_clock.ts";

/** The time source. It is passed as an argument, so that tests run forty minutes of waiting in milliseconds. */
export interface Clock {
  /** Unix time in milliseconds. It follows the machine's clock and can go backwards. */
  now(): number;
  /**
   * Milliseconds since an arbitrary start. It never goes backwards. Use it to measure durations within this process.
   */
  monotonicMs(): number;
  /**
   * Calls `callback` once after `delayMs`. Returns a function that cancels it. The timer does not keep the process
   * alive.
   */
  after(delayMs: number, callback: () => void): () => void;
}

const monotonic = new MonotonicClock(Date.now, () => performance.now());

/** The machine's own clock. */
export const systemClock: Clock = {
  now: Date.now,
  monotonicMs: () => monotonic.ms(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    Deno.unrefTimer(timer);
    return () => clearTimeout(timer);
  },
};

/** Converts Unix milliseconds to whole Unix seconds, the unit of most wire formats. */
export function secondsOf(atMs: number): number {
  return Math.floor(atMs / 1_000);
}

/** Resolves after `delayMs`, measured by `clock`. */
export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => void clock.after(delayMs, resolve));
}

/** Resolves when `done` does, at the latest after `maxMs`, measured by `clock`. Rejects if `done` does before that. */
export async function waitAtMost(clock: Pick<Clock, "after">, maxMs: number, done: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancel = clock.after(maxMs, late.resolve);
  try {
    await Promise.race([done, late.promise]);
  } finally {
    cancel();
  }
}
