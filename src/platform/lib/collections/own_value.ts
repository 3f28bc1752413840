/**
 * A table's value under a key that came from outside; undefined when the table has none. Names that every object
 * inherits, such as `constructor` and `__proto__`, are not found.
 */
export function ownValue<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
