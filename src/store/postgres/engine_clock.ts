import type { Clock } from "../../lib/clock.ts";

/**
 * The clock of the database server, as this process knows it: the server's time when it was last measured, continued
 * by the monotonic clock. So a wrong clock of a node has no effect.
 */
export class EngineClock implements Clock {
  readonly #clock: Clock;
  readonly #isGiven: boolean;
  #aheadMs: number;

  /**
   * @param clock The clock of this process.
   * @param isGiven Whether that clock is the engine's as well, so that a test can move it.
   */
  constructor(clock: Clock, isGiven: boolean) {
    this.#clock = clock;
    this.#isGiven = isGiven;
    this.#aheadMs = clock.now() - clock.monotonicMs();
  }

  /** The time for a statement: null when the server reads its own clock. */
  get parameter(): number | null {
    return this.#isGiven ? this.#clock.now() : null;
  }

  now(): number {
    return this.#isGiven ? this.#clock.now() : Math.floor(this.#aheadMs + this.#clock.monotonicMs());
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  after(delayMs: number, callback: () => void): () => void {
    return this.#clock.after(delayMs, callback);
  }

  /** Records the server's time from an answer. The estimate is late by the way of the answer, never ahead. */
  note(serverNow: number): void {
    this.#aheadMs = serverNow - this.#clock.monotonicMs();
  }
}
