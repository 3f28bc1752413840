/** Items that are taken in the order in which they were added. `Array.shift` moves all others of a long list. */
export class InOrder<T> {
  readonly #items: T[];
  #taken = 0;

  /** @param first The first item. */
  constructor(first: T) {
    this.#items = [first];
  }

  /** The item that was added last, unless all are taken. */
  get last(): T | undefined {
    return this.#taken < this.#items.length ? this.#items.at(-1) : undefined;
  }

  /** Adds an item at the end. */
  add(item: T): void {
    this.#items.push(item);
  }

  /** Returns the first item that is not taken yet, and takes it. Undefined if all are. */
  take(): T | undefined {
    return this.#taken < this.#items.length ? this.#items[this.#taken++] : undefined;
  }
}
