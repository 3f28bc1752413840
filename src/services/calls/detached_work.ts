import type { Clock } from "../../platform/lib/basics/clock.ts";
import { NO_SLOT, SlotSet } from "../../platform/lib/collections/slot_set.ts";

/** Work that goes on without its caller, which a shutdown waits for. */
export class DetachedWork {
  readonly #aborts = new SlotSet<{ slot: number; readonly abort: () => void }>();
  #onNone: () => void = () => {};

  /** Adds work. `abort` ends it soon. Returns a function that removes it. */
  add(abort: () => void): () => void {
    const work = { slot: NO_SLOT, abort };
    this.#aborts.add(work);
    return () => {
      this.#aborts.delete(work);
      if (this.#aborts.size === 0) this.#onNone();
    };
  }

  /** Ends all work soon. */
  abortAll(): void {
    for (const { abort } of [...this.#aborts]) abort();
  }

  /** Resolves when there is none, or after this time. */
  async drain(graceMs: number, clock: Clock): Promise<void> {
    if (this.#aborts.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onNone = resolve;
    const cancel = clock.after(graceMs, resolve);
    await promise;
    cancel();
  }
}
