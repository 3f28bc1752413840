import type { Clock } from "../lib/clock.ts";
import type { CircuitBreaker } from "../routing/circuit_breaker.ts";

/** Time between two looks at the circuits. */
const INTERVAL_MS = 250;
/** Circuits are looked at for this time after a failure: a probe of a credential may decide later. */
const WATCHED_MS = 60_000;

/** A number in shared memory that is 0 while no circuit is open, so that threads need not ask. */
export class CircuitFlag {
  /** The shared memory. */
  readonly buffer = new SharedArrayBuffer(4);
  readonly #flag = new Int32Array(this.buffer);
  #watchedUntil = -Infinity;
  #stopTimer: (() => void) | null = null;

  constructor(readonly breaker: Pick<CircuitBreaker, "health">, readonly clock: Clock) {}

  /** An attempt has failed, which may have opened a circuit. */
  onFailure(): void {
    this.#watchedUntil = this.clock.monotonicMs() + WATCHED_MS;
    this.#look();
  }

  /** Stops looking at the circuits. */
  close(): void {
    this.#stopTimer?.();
    this.#stopTimer = null;
  }

  #look(): void {
    const isAnyOpen = this.breaker.health().some(({ state }) => state !== "ready");
    Atomics.store(this.#flag, 0, isAnyOpen ? 1 : 0);
    if (!isAnyOpen && this.clock.monotonicMs() >= this.#watchedUntil) return;
    this.#stopTimer ??= this.clock.after(INTERVAL_MS, () => {
      this.#stopTimer = null;
      this.#look();
    });
  }
}
