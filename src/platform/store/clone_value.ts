/** Deeper values, and values with cycles, are left to `structuredClone`. */
const MAX_DEPTH = 16;

/**
 * Clones a value as `structuredClone` does, but faster for nearly all stored values: plain objects, arrays, bytes and
 * primitive values.
 *
 * @throws {DOMException} If the value has no structured clone.
 */
export function cloneValue<T>(value: T): T {
  return copyAt(value, 0) as T;
}

function copyAt(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return isPrimitive(value) ? value : structuredClone(value);
  if (depth === MAX_DEPTH) return structuredClone(value);
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype) return copyOfFields(value as Record<string, unknown>, depth);
  if (prototype === Array.prototype) return copyOfItems(value as unknown[], depth);
  if (prototype === Uint8Array.prototype) return (value as Uint8Array).slice();
  return structuredClone(value);
}

function isPrimitive(value: unknown): boolean {
  return typeof value !== "function" && typeof value !== "symbol";
}

function copyOfFields(value: Record<string, unknown>, depth: number): unknown {
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    if (name === "__proto__") return structuredClone(value); // an assignment would set the prototype instead of a field
    copy[name] = copyAt(value[name], depth + 1);
  }
  return copy;
}

function copyOfItems(value: readonly unknown[], depth: number): unknown {
  const copy: unknown[] = [];
  for (const item of value) copy.push(copyAt(item, depth + 1));
  return copy;
}
