import type { Clock } from "../../src/lib/clock.ts";

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  #now: number;
  #timers: { readonly at: number; readonly callback: () => void }[] = [];

  /** @param now Unix milliseconds to start at. */
  constructor(now = 1_800_000_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.#now + delayMs, callback };
    this.#timers.push(timer);
    return () => void (this.#timers = this.#timers.filter((other) => other !== timer));
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.length;
  }

  /** Moves on, calling back whatever falls due on the way, at its own instant. */
  advance(byMs: number): void {
    const end = this.#now + byMs;
    while (true) {
      const next = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = end;
  }

  /** Sets the time without calling anybody back, as an administrator would. */
  set(nowMs: number): void {
    this.#now = nowMs;
  }
}

/** Waits, without a limit of its own, until something is so; what happens meanwhile is real. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1));
}
