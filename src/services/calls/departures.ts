import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "../../platform/lib/basics/clock.ts";

/** The number of calls that are handled without a pause. Counting the tokens of one takes about half a millisecond. */
const BATCH = 4;
/** The pause after a batch, in milliseconds. Other calls are served in it. */
const PAUSE_MS = 2;

/**
 * Counts and charges the calls whose callers disconnected. Hundreds of callers can disconnect at once, such as those of
 * one proxy, and handling all of them at once would stop every other stream for a quarter of a second.
 */
export class Departures {
  #waiting: (() => void)[] = [];
  /** The number of calls that were handled since the last pause. */
  #handled = 0;
  #isPausing = false;

  /**
   * Handles a call: at once after a pause, otherwise after those before it.
   *
   * @param handle Must not throw.
   */
  add(handle: () => void, clock: Clock): void {
    if (this.#handled < BATCH && this.#waiting.length === 0) {
      this.#handled++;
      handle();
    } else this.#waiting.push(AsyncLocalStorage.bind(handle)); // A thread finds the request by the asynchronous context.
    if (!this.#isPausing) this.#pause(clock);
  }

  /** Handles all calls that wait, before the process ends. */
  finish(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const handle of waiting) handle();
  }

  #pause(clock: Clock): void {
    this.#isPausing = true;
    clock.after(PAUSE_MS, () => {
      this.#isPausing = false;
      const batch = this.#waiting.splice(0, BATCH);
      this.#handled = batch.length;
      for (const handle of batch) handle();
      if (this.#handled > 0) this.#pause(clock);
    });
  }
}
