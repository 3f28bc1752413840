import type { KeptValues } from "../../services/texts/memory/bounded_memory.ts";

/** Kept values of a thread and, for those that it does not have, of the main thread. Values are kept in both. */
export function nearMemory<V>(near: KeptValues<V>, shared: KeptValues<V>): KeptValues<V> {
  return {
    get isEmpty() {
      return near.isEmpty && shared.isEmpty;
    },
    put(key, value, characters) {
      near.put(key, value, characters);
      shared.put(key, value, characters);
    },
    find: (key) => near.find(key) ?? shared.find(key),
  };
}
