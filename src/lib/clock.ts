/** Time as an argument, so that forty minutes of waiting can be tested in milliseconds. */
export interface Clock {
  /** Unix time in milliseconds. It follows the machine's clock, so it goes back when that is set back. */
  now(): number;
  /**
   * Milliseconds since an instant of no meaning. It never goes back: spans and pauses of this process are measured by
   * it.
   */
  monotonicMs(): number;
  /** Calls back once after `delayMs`; gives the way to call it off. The timer does not keep the process alive. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: Date.now,
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    Deno.unrefTimer(timer);
    return () => clearTimeout(timer);
  },
};

/** An instant of Unix milliseconds in whole Unix seconds, as most wire forms write it. */
export function secondsOf(atMs: number): number {
  return Math.floor(atMs / 1_000);
}

/** Resolves after `delayMs` by that clock. */
export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => void clock.after(delayMs, resolve));
}
