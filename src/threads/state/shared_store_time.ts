import type { Clock } from "../../platform/lib/basics/clock.ts";
import type { Store } from "../../platform/store/store.ts";
import { type StoreTime, storeTimeOf } from "../../platform/store/store_time.ts";

/** Time between two looks at the clock of the store. */
const INTERVAL_MS = 1_000;

/**
 * How far the clock of the store is ahead of that of this machine, in shared memory, so that threads know the time of
 * the store without a question.
 */
export class SharedStoreTime {
  /** The shared memory: whole milliseconds. */
  readonly buffer = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
  readonly #aheadMs = new BigInt64Array(this.buffer);
  #stopTimer: () => void = () => {};

  constructor(private readonly store: Pick<Store, "now">, private readonly clock: Clock) {
    this.#look();
  }

  /** Stops looking at the clock. */
  close(): void {
    this.#stopTimer();
  }

  #look(): void {
    Atomics.store(this.#aheadMs, 0, BigInt(Math.round(this.store.now() - this.clock.now())));
    this.#stopTimer = this.clock.after(INTERVAL_MS, () => this.#look());
  }
}

/** Reads the time of the store in a thread. */
export function sharedStoreClock(buffer: SharedArrayBuffer): () => StoreTime {
  const aheadMs = new BigInt64Array(buffer);
  return () => storeTimeOf(Date.now() + Number(Atomics.load(aheadMs, 0)));
}
