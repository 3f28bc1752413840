import type { Clock } from "../../platform/lib/basics/clock.ts";
import type { WriteGuard } from "../../platform/store/write_health.ts";

/** Time between two looks at the store. */
const INTERVAL_MS = 100;

/** A number in shared memory that is 1 while the store takes writes, so that threads need not ask. */
export class WritableFlag {
  /** The shared memory. */
  readonly buffer = new SharedArrayBuffer(4);
  readonly #flag = new Int32Array(this.buffer);
  #stopTimer: (() => void) | null = null;

  constructor(readonly guard: Pick<WriteGuard, "failure">, readonly clock: Clock) {
    this.#look();
  }

  /** Stops looking at the store. */
  close(): void {
    this.#stopTimer?.();
  }

  #look(): void {
    Atomics.store(this.#flag, 0, this.guard.failure === null ? 1 : 0);
    this.#stopTimer = this.clock.after(INTERVAL_MS, () => this.#look());
  }
}
