import type { Clock } from "../../platform/lib/basics/clock.ts";
import type { CircuitBreaker } from "../../vendors/routing/circuit_breaker.ts";

/** Time between two looks at the circuits. */
const INTERVAL_MS = 250;
/** Circuits are looked at for this time after a failure: a probe of a credential may decide later. */
const WATCHED_MS = 60_000;

/** No attempt has failed for some time. */
export const QUIET = 0;
/** A circuit is open. */
export const OPEN = 1;
/** No circuit is open, but an attempt failed a while ago: the main thread must know of every attempt. */
const WATCHED = 2;

/** A number in shared memory that says whether a circuit may be open, so that threads need not ask. */
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
    const isQuiet = !isAnyOpen && this.clock.monotonicMs() >= this.#watchedUntil;
    Atomics.store(this.#flag, 0, isAnyOpen ? OPEN : isQuiet ? QUIET : WATCHED);
    if (isQuiet) return;
    this.#stopTimer ??= this.clock.after(INTERVAL_MS, () => {
      this.#stopTimer = null;
      this.#look();
    });
  }
}
