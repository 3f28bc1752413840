import type { StoreEngine } from "../../src/platform/store/engine.ts";

/** The announcements of processes that share a store, in memory. */
export class WakeChannel {
  readonly #listeners = new Map<object, (kind: string) => void>();
  /** Whether messages are lost. */
  isCut = false;
  /** The number of messages. */
  sent = 0;

  /** The store of one process. */
  member(): Pick<StoreEngine, "announce" | "onWake"> {
    const member = {
      announce: (kind: string) => {
        this.sent++;
        if (this.isCut) return;
        for (const [other, listener] of this.#listeners) if (other !== member) queueMicrotask(() => listener(kind));
      },
      onWake: (listener: (kind: string) => void) => {
        this.#listeners.set(member, listener);
        return () => void this.#listeners.delete(member);
      },
    };
    return member;
  }
}
