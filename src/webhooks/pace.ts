/** The shortest and the longest time that a job is postponed by. */
const MIN_POSTPONEMENT_MS = 1_000;
const MAX_POSTPONEMENT_MS = 600_000;

const FIRST_GUESS_MS = 200;
/** The weight of the newest attempt in the average. */
const NEWEST_SHARE = 0.3;

/**
 * Spreads postponed jobs over time, at the rate at which a queue gets through its attempts, so that thousands of them
 * do not return together to find the queue full again.
 */
export class Pace {
  /** Moving average of the duration of an attempt. */
  #expectedMs = FIRST_GUESS_MS;
  /** When the last postponed job returns. */
  #returnsAt = 0;

  /** Counts an attempt that ended. */
  note(durationMs: number): void {
    this.#expectedMs += NEWEST_SHARE * (durationMs - this.#expectedMs);
  }

  /**
   * How long the next postponed job is put off.
   *
   * @param elapsedMs Monotonic milliseconds.
   * @param places How many attempts run at once.
   * @param random Uniform in [0, 1). Beyond the longest time jobs return over its second half, not all at its end.
   */
  next(elapsedMs: number, places: number, random: () => number): number {
    const earliest = elapsedMs + MIN_POSTPONEMENT_MS;
    this.#returnsAt = Math.max(this.#returnsAt, earliest) + this.#expectedMs / Math.max(places, 1);
    return Math.ceil(Math.min(this.#returnsAt - elapsedMs, MAX_POSTPONEMENT_MS * (1 - random() / 2)));
  }
}
