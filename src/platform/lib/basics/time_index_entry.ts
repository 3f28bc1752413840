/** An entry of an index sorted by time; entries with equal times are sorted by id. */
export interface TimeIndexEntry {
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly id: string;
}

/**
 * Merges the entries of several indexes: each item once with its last entry, sorted by time.
 *
 * @param places The entries of all indexes in any order.
 */
export function mergeByTime<P extends TimeIndexEntry>(places: readonly P[], reverse: boolean): P[] {
  const once = [...new Map(places.map((place) => [place.id, place])).values()];
  return once.sort(reverse ? (a, b) => compare(b, a) : compare);
}

function compare(a: TimeIndexEntry, b: TimeIndexEntry): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
