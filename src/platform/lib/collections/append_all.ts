/**
 * Adds items at the end of a list, however many there are. `list.push(...items)` throws a `RangeError` above some
 * 100,000 items, which a caller or a vendor can send.
 */
export function appendAll<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}
