/** A value that can be in one {@linkcode SlotSet} at a time. */
export interface SlotMember {
  /** Set by the set. {@linkcode NO_SLOT} outside of one. */
  slot: number;
}

/** The slot of a value that is in no set. */
export const NO_SLOT: number = -1;

/**
 * A set for values that come and go with each request. A `Set` rebuilds its table after some deletions, and V8 links
 * the old table to the new one. Once one table is in the old generation, all later ones stay in memory until the next
 * full collection, with the values that they had when they were rebuilt: nearly all requests. This set has one array.
 */
export class SlotSet<T extends SlotMember> implements Iterable<T> {
  readonly #slots: (T | undefined)[] = [];
  readonly #free: number[] = [];

  /** The number of values. */
  get size(): number {
    return this.#slots.length - this.#free.length;
  }

  /** Adds a value. Adding one that is in the set has no effect. */
  add(value: T): void {
    if (value.slot !== NO_SLOT) return;
    const slot = this.#free.pop() ?? this.#slots.length;
    this.#slots[slot] = value;
    value.slot = slot;
  }

  /** Removes a value. Returns whether it was in the set. */
  delete(value: T): boolean {
    const { slot } = value;
    if (slot === NO_SLOT) return false;
    this.#slots[slot] = undefined;
    this.#free.push(slot);
    value.slot = NO_SLOT;
    return true;
  }

  /** The values, in no particular order. Values may be removed and added meanwhile; added ones may be left out. */
  *[Symbol.iterator](): Iterator<T> {
    for (const value of this.#slots) if (value !== undefined) yield value;
  }
}
