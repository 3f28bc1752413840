import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import { untilSo } from "./patience.ts";

/** A clock that moves only when a test moves it. */
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

  /** The number of pending timers. */
  get waiting(): number {
    return this.#timers.length;
  }

  /** Moves the time ahead and runs the timers on the way, each at its own time. */
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

  /** Sets the time as an administrator would: no timer runs, and none waits longer. */
  set(nowMs: number): void {
    this.#now = nowMs;
  }

  /** Moves the time ahead as if the process were stopped: no timer runs. */
  stall(byMs: number): void {
    this.#pass(byMs);
  }

  #pass(byMs: number): void {
    this.#now += byMs;
    this.#elapsedMs += byMs;
  }
}

/** Waits until a condition is true; uses real time. */
export async function until(isSo: () => boolean): Promise<void> {
  await untilSo(isSo);
}
