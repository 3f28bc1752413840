import type { Clock } from "../../lib/basics/clock.ts";
import { ClockOffset, ClockRollbackDetector, type ClockSample } from "../clock_rollback.ts";

/**
 * The clock of the database server, as this process knows it: the server's time when it was last measured, continued
 * by the monotonic clock. So a wrong clock of a node has no effect.
 */
export class EngineClock implements Clock {
  readonly #clock: Clock;
  readonly #given: ClockRollbackDetector | null;
  #server: ClockOffset | null = null;

  /**
   * @param clock The clock of this process.
   * @param isGiven Whether that clock is the engine's as well, so that a test can move it.
   */
  constructor(clock: Clock, isGiven: boolean) {
    this.#clock = clock;
    this.#given = isGiven ? new ClockRollbackDetector(clock) : null;
  }

  /** The time for a statement: null when the server reads its own clock. */
  get parameter(): number | null {
    return this.#given === null ? null : this.#clock.now();
  }

  /** By how much the server's clock is ahead of this machine's, in milliseconds; 0 while that is not known. */
  get aheadOfHostMs(): number {
    if (this.#server === null) return 0;
    return this.#server.offsetMs - (this.#clock.now() - this.#clock.monotonicMs());
  }

  now(): number {
    if (this.#given !== null || this.#server === null) return this.#clock.now();
    return Math.floor(this.#server.offsetMs + this.#clock.monotonicMs());
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  after(delayMs: number, callback: () => void): () => void {
    return this.#clock.after(delayMs, callback);
  }

  /** Runs a statement that reads the server's time, and records the time. */
  async measure<T extends { readonly now: number }>(read: () => Promise<T>): Promise<T> {
    const sentMs = this.#clock.monotonicMs();
    const answer = await read();
    const sample: ClockSample = { now: answer.now, sentMs, receivedMs: this.#clock.monotonicMs() };
    if (this.#given !== null) return answer;
    if (this.#server === null) this.#server = new ClockOffset(sample);
    else this.#server.note(sample);
    return answer;
  }

  /** Whole milliseconds by which the server's clock was set back since the last call; 0 if it was not. */
  takeRollbackMs(): number {
    return (this.#given ?? this.#server)?.takeRollbackMs() ?? 0;
  }
}
