import type { JobStore, Key } from "../src/platform/store/store.ts";

/** The reads of a store. */
export interface StoreReads {
  /** The number of scans, and of the entries that they returned. */
  scans: number;
  entries: number;
  /** The keys that were read. */
  keys: Key[];
}

/** Wraps a store and counts its reads. */
export function countingStore(store: JobStore): { readonly store: JobStore; readonly reads: StoreReads } {
  const reads: StoreReads = { scans: 0, entries: 0, keys: [] };
  const counted: Partial<JobStore> = {
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
    get(target, name: keyof JobStore) {
      const member = target[name];
      return counted[name] ?? (typeof member === "function" ? member.bind(target) : member);
    },
  });
  return { store: proxy, reads };
}
