/** A place in an order of times: several things of one instant follow one another by their ids. */
export interface TimeIndexEntry {
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly id: string;
}

/**
 * Places of several lines as one: each thing once, its last mention counts, in the order of time or against it.
 *
 * @param places Those of all lines, in any order.
 */
export function mergeByTime<P extends TimeIndexEntry>(places: readonly P[], reverse: boolean): P[] {
  const once = [...new Map(places.map((place) => [place.id, place])).values()];
  return once.sort(reverse ? (a, b) => compare(b, a) : compare);
}

function compare(a: TimeIndexEntry, b: TimeIndexEntry): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
