/**
 * An instant by the clock of the store, in Unix milliseconds. The clock of this machine can differ by hours from that
 * of a database, and due times are compared to the latter. Only {@linkcode Store.now} makes one, so the compiler
 * refuses a time of this machine as a due time.
 */
export type StoreTime = number & { readonly isStoreTime: true };

/** The time of an engine's clock, for {@linkcode Store.now} of the engines and for what follows from it. */
export function storeTimeOf(unixMs: number): StoreTime {
  return unixMs as StoreTime;
}

/** The instant so many milliseconds later. */
export function laterBy(at: StoreTime, delayMs: number): StoreTime {
  return storeTimeOf(at + delayMs);
}
