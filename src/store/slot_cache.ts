import type { Slot } from "./draft.ts";
import type { Area } from "./keys.ts";
import type { Key } from "./store.ts";

// What commits of one account or job read again and again. Values of callers are not kept: they may be large.
const CACHED_AREAS: readonly Area[] = ["balance", "job"];

/**
 * The balances and jobs that were read or written last, so that a hot commit reads nothing. True because this process
 * is the only writer, and only what is durable is put in. The least recently used goes first.
 */
export class SlotCache {
  readonly #slots = new Map<string, Slot>();
  readonly #size: number;

  /** @param size How many slots are kept. */
  constructor(size: number) {
    this.#size = size;
  }

  /** What stands under an encoded key, if that is known. */
  get(id: string): Slot | undefined {
    const slot = this.#slots.get(id);
    if (slot) this.#keep(id, slot);
    return slot;
  }

  /** Notes what stands under a key, also that nothing does. */
  put(id: string, key: Key, slot: Slot): void {
    if (CACHED_AREAS.includes(key[0] as Area)) this.#keep(id, slot);
  }

  /** Forgets everything, after a write whose outcome is not known. */
  clear(): void {
    this.#slots.clear();
  }

  #keep(id: string, slot: Slot): void {
    this.#slots.delete(id);
    this.#slots.set(id, slot);
    if (this.#slots.size <= this.#size) return;
    for (const oldest of this.#slots.keys()) {
      this.#slots.delete(oldest);
      return;
    }
  }
}
