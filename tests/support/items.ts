import { fail } from "@std/assert";

/**
 * The item at an index of a list.
 *
 * @throws AssertionError when the list has no item at `index`.
 */
export function itemAt<T>(list: ArrayLike<T>, index: number): T {
  const item = list[index];
  if (item === undefined) fail(`No item ${index} in a list of ${list.length}`);
  return item;
}

/**
 * The value at a key of a record.
 *
 * @throws AssertionError when the record has no value at `key`.
 */
export function valueAt<T>(record: Readonly<Record<string, T>>, key: string): T {
  const value = record[key];
  if (value === undefined) fail(`No value at "${key}", only at ${Object.keys(record).join(", ") || "no key"}`);
  return value;
}

/**
 * The items of a list that has no fewer than `count`; for destructuring.
 *
 * @throws AssertionError when there are fewer.
 */
export function atLeast<T>(items: Iterable<T>, count: 1): [T, ...T[]];
export function atLeast<T>(items: Iterable<T>, count: 2): [T, T, ...T[]];
export function atLeast<T>(items: Iterable<T>, count: 3): [T, T, T, ...T[]];
export function atLeast<T>(items: Iterable<T>, count: 4): [T, T, T, T, ...T[]];
export function atLeast<T>(items: Iterable<T>, count: 5): [T, T, T, T, T, ...T[]];
export function atLeast<T>(items: Iterable<T>, count: number): T[] {
  const list = [...items];
  if (list.length < count) fail(`${list.length} items where at least ${count} are expected`);
  return list;
}

/**
 * A value that must be present.
 *
 * @param what Names the value in the message of a failure.
 * @throws AssertionError when the value is undefined.
 */
export function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) fail(`No ${what}`);
  return value;
}
