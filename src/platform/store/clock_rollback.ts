import type { Clock } from "../lib/basics/clock.ts";

/** Smaller steps back are normal clock adjustments and have no effect on jobs worth a correction. */
const MIN_ROLLBACK_MS = 1_000;
/** A longer sample tells too little, since the process, the database or the network was slow. */
const MAX_SAMPLE_MS = 500;

/** A time that was read from a clock at some instant between two instants of the monotonic clock. */
export interface ClockSample {
  /** Unix milliseconds. */
  readonly now: number;
  /** When it was requested, in monotonic milliseconds. */
  readonly sentMs: number;
  /** When it was there, in monotonic milliseconds. */
  readonly receivedMs: number;
}

/**
 * The difference between a clock and the monotonic clock of this process, as samples prove it. A sample says that the
 * clock was at `now` between `sentMs` and `receivedMs`. So a late answer or a pause of the process is no evidence of a
 * clock that was set back: only a time that is too early even for the end of the sample is.
 */
export class ClockOffset {
  #offsetMs: number;
  #rollbackMs = 0;

  /** @param first It is taken however long it is. */
  constructor(first: ClockSample) {
    this.#offsetMs = first.now - first.receivedMs;
  }

  /** The clock less the monotonic clock, in milliseconds. Late by at most the length of a sample, never ahead. */
  get offsetMs(): number {
    return this.#offsetMs;
  }

  /** Takes a sample into account, unless it is too long. */
  note({ now, sentMs, receivedMs }: ClockSample): void {
    if (receivedMs - sentMs > MAX_SAMPLE_MS) return;
    const [lowest, highest] = [now - receivedMs, now - sentMs];
    const rollbackMs = this.#offsetMs - highest;
    if (isRollback(rollbackMs)) this.#rollbackMs += rollbackMs;
    if (this.#offsetMs < lowest || this.#offsetMs > highest) this.#offsetMs = lowest;
  }

  /** Whole milliseconds by which the clock was set back since the last call; 0 if it was not. */
  takeRollbackMs(): number {
    const rollbackMs = Math.round(this.#rollbackMs);
    this.#rollbackMs = 0;
    return rollbackMs;
  }
}

/** Detects by how much a clock of this machine was set back. */
export class ClockRollbackDetector {
  readonly #offset: ClockOffset;

  /** @param clock The clock to observe, from now on. */
  constructor(private readonly clock: Clock) {
    this.#offset = new ClockOffset(this.#sample());
  }

  /** Whole milliseconds by which the clock was set back since the last call; 0 if it was not. */
  takeRollbackMs(): number {
    this.#offset.note(this.#sample());
    return this.#offset.takeRollbackMs();
  }

  /** The process can be stopped between the readings. */
  #sample(): ClockSample {
    const sentMs = this.clock.monotonicMs();
    const now = this.clock.now();
    return { now, sentMs, receivedMs: this.clock.monotonicMs() };
  }
}

/** Whether a difference in milliseconds is large enough to count as a clock that was set back. */
export function isRollback(byMs: number): boolean {
  return byMs >= MIN_ROLLBACK_MS;
}
