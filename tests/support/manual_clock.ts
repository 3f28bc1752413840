import type { Clock } from "../../src/lib/clock.ts";

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  #now: number;
  #elapsedMs = 0;
  #timers: { readonly at: number; readonly callback: () => void }[] = [];

  /** @param now Unix milliseconds to start at. */
  constructor(now = 1_800_000_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.#elapsedMs + delayMs, callback };
    this.#timers.push(timer);
    return () => void (this.#timers = this.#timers.filter((other) => other !== timer));
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.length;
  }

  /** Moves on, calling back whatever falls due on the way, at its own instant. */
  advance(byMs: number): void {
    const end = this.#elapsedMs + byMs;
    while (true) {
      const next = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#pass(Math.max(next.at - this.#elapsedMs, 0));
      next.callback();
    }
    this.#pass(end - this.#elapsedMs);
  }

  /** Sets the time as an administrator would: no timer rings for it, and none waits longer. */
  set(nowMs: number): void {
    this.#now = nowMs;
  }

  /** Time passes while the process is stopped: no timer rings. */
  stall(byMs: number): void {
    this.#pass(byMs);
  }

  #pass(byMs: number): void {
    this.#now += byMs;
    this.#elapsedMs += byMs;
  }
}

/** Waits, without a limit of its own, until something is so; what happens meanwhile is real. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1));
}
