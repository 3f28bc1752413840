/** How deep a value is walked here; what lies deeper, or turns back on itself, is left to the platform. */
const DEEPEST = 16;

/**
 * A structured clone, by a shorter way for what nearly every stored value is: plain objects, lists, bytes and primitive
 * values.
 *
 * @throws {DOMException} For a value that has no structured clone.
 */
export function cloneValue<T>(value: T): T {
  return copyAt(value, 0) as T;
}

function copyAt(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return isPrimitive(value) ? value : structuredClone(value);
  if (depth === DEEPEST) return structuredClone(value);
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
    if (name === "__proto__") return structuredClone(value); // as a field of its own, which an assignment would not make
    copy[name] = copyAt(value[name], depth + 1);
  }
  return copy;
}

function copyOfItems(value: readonly unknown[], depth: number): unknown {
  const copy: unknown[] = [];
  for (const item of value) copy.push(copyAt(item, depth + 1));
  return copy;
}
