import { type Clock, systemClock } from "../../src/platform/lib/basics/clock.ts";

interface Timer {
  readonly at: number;
  readonly callback: () => void;
  /** Cancels the timer. */
  readonly stop: () => void;
}

/** The machine's clock with an offset. A shift runs the timers that fall due by it at once. */
export class ShiftedClock implements Clock {
  #shiftMs = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return Date.now() + this.#shiftMs;
  }

  monotonicMs(): number {
    return performance.now() + this.#shiftMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const fire = () => {
      this.#timers.delete(timer);
      callback();
    };
    const stop = systemClock.after(delayMs, fire);
    const timer: Timer = { at: this.now() + delayMs, callback: fire, stop };
    this.#timers.add(timer);
    return () => this.#drop(timer);
  }

  /** Moves the clock ahead. */
  shift(byMs: number): void {
    this.#shiftMs += byMs;
    const due = [...this.#timers].filter(({ at }) => at <= this.now()).sort((a, b) => a.at - b.at);
    for (const timer of due) {
      if (!this.#timers.has(timer)) continue;
      this.#drop(timer);
      timer.callback();
    }
  }

  /** Cancels every timer. */
  stop(): void {
    for (const timer of this.#timers) this.#drop(timer);
  }

  #drop(timer: Timer): void {
    timer.stop();
    this.#timers.delete(timer);
  }
}
