import type { Key, Store } from "../src/store/store.ts";

/** What was read of a store. */
export interface StoreReads {
  /** Ranges that were asked for, and the entries that came of them. */
  scans: number;
  entries: number;
  /** Values that were asked for by their keys. */
  keys: Key[];
}

/** A store that counts what is read of it, and the count so far. */
export function countingStore(store: Store): { readonly store: Store; readonly reads: StoreReads } {
  const reads: StoreReads = { scans: 0, entries: 0, keys: [] };
  const counted: Partial<Store> = {
    get(keys) {
      reads.keys.push(...keys);
      return store.get(keys);
    },
    async scan(prefix, page) {
      const entries = await store.scan<never>(prefix, page);
      reads.scans++;
      reads.entries += entries.length;
      return entries;
    },
  };
  const proxy = new Proxy(store, {
    get(target, name: keyof Store) {
      const member = target[name];
      return counted[name] ?? (typeof member === "function" ? member.bind(target) : member);
    },
  });
  return { store: proxy, reads };
}
