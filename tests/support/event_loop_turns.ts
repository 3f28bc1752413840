import { assert } from "@std/assert";

/** Counts the turns of the event loop of this thread: those in which a timer of zero milliseconds was called. */
export class EventLoopTurns implements Disposable {
  #count = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Starts counting. */
  constructor() {
    const next = () => {
      this.#timer = setTimeout(() => {
        this.#count++;
        next();
      }, 0);
    };
    next();
  }

  /**
   * Asserts that the event loop turned about as often as expected: at least half of it, because timers that are due at
   * the same moment are called in one turn.
   */
  assertAbout(expected: number, during = "the work"): void {
    assert(this.#count >= expected / 2, `the event loop turned ${this.#count} times during ${during}, not ${expected}`);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
