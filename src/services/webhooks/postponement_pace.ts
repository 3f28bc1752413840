/** Minimum and maximum postponement of a job. */
const MIN_POSTPONEMENT_MS = 1_000;
const MAX_POSTPONEMENT_MS = 600_000;

const FIRST_GUESS_MS = 200;
/** Weight of the newest attempt in the moving average. */
const NEWEST_SHARE = 0.3;

/**
 * Spreads postponed jobs over time, at the rate at which the queue completes attempts. Without it, thousands of jobs
 * would return together and find the queue full again.
 */
export class PostponementPace {
  /** Moving average of the duration of an attempt. */
  #expectedMs = FIRST_GUESS_MS;
  /** When the last postponed job returns. */
  #returnsAt = 0;

  /** Counts a completed attempt. */
  record(durationMs: number): void {
    this.#expectedMs += NEWEST_SHARE * (durationMs - this.#expectedMs);
  }

  /**
   * Returns the delay of the next postponed job. Delays above the maximum are spread over its second half, so jobs do
   * not all return together.
   *
   * @param elapsedMs Monotonic milliseconds.
   * @param places Number of concurrent attempts.
   * @param random Returns a uniform random number in [0, 1).
   */
  nextDelayMs(elapsedMs: number, places: number, random: () => number): number {
    const earliest = elapsedMs + MIN_POSTPONEMENT_MS;
    this.#returnsAt = Math.max(this.#returnsAt, earliest) + this.#expectedMs / Math.max(places, 1);
    return Math.ceil(Math.min(this.#returnsAt - elapsedMs, MAX_POSTPONEMENT_MS * (1 - random() / 2)));
  }
}
