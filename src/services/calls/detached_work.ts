import type { Clock } from "../../platform/lib/basics/clock.ts";

/** Work that goes on without its caller, which a shutdown waits for. */
export class DetachedWork {
  readonly #aborts = new Map<symbol, () => void>();
  #onNone: () => void = () => {};

  /** Adds work. `abort` ends it soon. Returns a function that removes it. */
  add(abort: () => void): () => void {
    const id = Symbol();
    this.#aborts.set(id, abort);
    return () => {
      this.#aborts.delete(id);
      if (this.#aborts.size === 0) this.#onNone();
    };
  }

  /** Ends all work soon. */
  abortAll(): void {
    for (const abort of [...this.#aborts.values()]) abort();
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
