import { MAX_TURN_READS, nextTurn } from "./loop_turns.ts";

/** How long reads go on without a turn of the event loop. */
const MAX_TURN_MS = 5;

/**
 * Lets others work while one reads much that has arrived already, which the platform delivers without a turn of the
 * event loop. Reads between which the event loop turns by itself, as those that wait for a network, never wait for it
 * here, and the first one costs nothing.
 */
export class TurnPace {
  #reads = 0;
  #startedAt = 0;
  #turn: Promise<void> | null = null;

  /**
   * Counts a read.
   *
   * @returns What must be awaited before the read, after 32 reads or 5 ms without a turn; otherwise null.
   */
  note(): Promise<void> | null {
    if (++this.#reads === 1) return null;
    if (this.#reads === 2) this.#startedAt = performance.now();
    const { turn } = this;
    return this.#reads >= MAX_TURN_READS || performance.now() - this.#startedAt >= MAX_TURN_MS ? turn : null;
  }

  /** Resolves with the next turn of the event loop. */
  get turn(): Promise<void> {
    return this.#turn ??= nextTurn().then(() => {
      this.#turn = null;
      this.#reads = 0;
    });
  }
}
