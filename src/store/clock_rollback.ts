import type { Clock } from "../lib/clock.ts";

/** Smaller steps back are normal clock adjustments and have no effect on jobs worth a correction. */
const MIN_ROLLBACK_MS = 1_000;

/** Detects by how much a clock was set back. */
export class ClockRollbackDetector {
  #offsetMs: number;

  /** @param clock The clock to observe, from now on. */
  constructor(private readonly clock: Clock) {
    this.#offsetMs = this.#offset();
  }

  /** Whole milliseconds by which the clock was set back since the last call; 0 if it was not. */
  takeRollbackMs(): number {
    const offsetMs = this.#offset();
    const rollbackMs = this.#offsetMs - offsetMs;
    this.#offsetMs = offsetMs;
    return isRollback(rollbackMs) ? Math.round(rollbackMs) : 0;
  }

  #offset(): number {
    return this.clock.now() - this.clock.monotonicMs();
  }
}

/** Whether a difference in milliseconds is large enough to count as a clock that was set back. */
export function isRollback(byMs: number): boolean {
  return byMs >= MIN_ROLLBACK_MS;
}
