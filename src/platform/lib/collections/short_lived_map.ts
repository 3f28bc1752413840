/**
 * A map for values that come and go with each request, such as those that wait for a message. Each value is in a box
 * that is emptied when it is removed, because V8 keeps tables that a map has replaced, with the boxes that they
 * had. Source: docs/decisions/0104-short-lived-objects.md.
 */
export class ShortLivedMap<K, V> {
  readonly #boxes = new Map<K, { value: V | null }>();

  /** The number of values. */
  get size(): number {
    return this.#boxes.size;
  }

  /** The value of a key; undefined if there is none. */
  get(key: K): V | undefined {
    return this.#boxes.get(key)?.value ?? undefined;
  }

  /** Sets the value of a key. */
  set(key: K, value: V): void {
    const box = this.#boxes.get(key);
    if (box === undefined) this.#boxes.set(key, { value });
    else box.value = value;
  }

  /** Removes a key and returns its value; undefined if there was none. */
  take(key: K): V | undefined {
    const box = this.#boxes.get(key);
    if (box === undefined) return undefined;
    this.#boxes.delete(key);
    const { value } = box;
    box.value = null;
    return value ?? undefined;
  }

  /** Removes everything and returns the values, in the order in which they were set. */
  takeAll(): V[] {
    return [...this.#boxes.keys()].flatMap((key) => this.take(key) ?? []);
  }
}
