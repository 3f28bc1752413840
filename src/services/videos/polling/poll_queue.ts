/** An item that waits to be polled. */
export interface QueueItem {
  /** Account of the task; accounts take turns. */
  readonly account: string;
}

/** A heap entry ordered by due time. It is stale if its item has moved. */
interface HeapEntry<T> {
  readonly dueAt: number;
  readonly item: T;
  readonly isUrgent: boolean;
}

/**
 * The items to poll at one provider, ordered by due time. If the rate limit leaves several due, their accounts take
 * turns. An account with thousands of tasks therefore does not delay the only task of another. Within an account, items
 * go in order of due time. All instants are monotonic milliseconds.
 */
export class PollQueue<T extends QueueItem> {
  /** A binary heap by due time. */
  readonly #waiting: HeapEntry<T>[] = [];
  readonly #entries = new Map<T, HeapEntry<T>>();
  /** Due items by account. The account whose turn is next is first; no list is empty. */
  readonly #due = new Map<string, T[]>();
  #dueCount = 0;

  /**
   * Adds an item, or moves it to another time.
   *
   * @param isUrgent Whether it precedes the other due items of its account.
   */
  add(item: T, dueAt: number, isUrgent = false): void {
    this.remove(item);
    const entry = { dueAt, item, isUrgent };
    this.#entries.set(item, entry);
    this.#push(entry);
  }

  /** Removes an item; does nothing if it is not queued. */
  remove(item: T): void {
    if (this.#entries.delete(item)) return this.#compact();
    const list = this.#due.get(item.account);
    const at = list?.indexOf(item) ?? -1;
    if (!list || at < 0) return;
    list.splice(at, 1);
    this.#dueCount--;
    if (list.length === 0) this.#due.delete(item.account);
  }

  /** Time of the next item: in the past if one is due, infinite if the queue is empty. */
  get nextAt(): number {
    if (this.#dueCount > 0) return -Infinity;
    this.#dropLeft();
    return this.#waiting[0]?.dueAt ?? Infinity;
  }

  /**
   * Removes and returns due items.
   *
   * @param max Maximum number of items.
   * @param aheadMs If an item is due and there is room, items due within this time are included.
   */
  take(now: number, max: number, aheadMs: number): T[] {
    for (let entry = this.#pop(now); entry !== null; entry = this.#pop(now)) this.#enterDue(entry);
    const taken: T[] = [];
    while (taken.length < max) {
      const item = this.#shiftDue();
      if (item === null) break;
      taken.push(item);
    }
    while (taken.length > 0 && taken.length < max) {
      const entry = this.#pop(now + aheadMs);
      if (entry === null) break;
      taken.push(entry.item);
    }
    return taken;
  }

  #enterDue({ item, isUrgent }: HeapEntry<T>): void {
    const list = this.#due.get(item.account);
    if (list && isUrgent) list.unshift(item);
    else if (list) list.push(item);
    else this.#due.set(item.account, [item]);
    this.#dueCount++;
  }

  /** Removes the first item of the account whose turn is next; null if none is due. */
  #shiftDue(): T | null {
    for (const [account, list] of this.#due) {
      const item = list.shift();
      this.#due.delete(account);
      if (list.length > 0) this.#due.set(account, list); // behind the others
      if (item === undefined) continue;
      this.#dueCount--;
      return item;
    }
    return null;
  }

  /** Removes the first item that is due by an instant; null if there is none. */
  #pop(by: number): HeapEntry<T> | null {
    this.#dropLeft();
    const [first] = this.#waiting;
    if (first === undefined || first.dueAt > by) return null;
    this.#removeFirst();
    this.#entries.delete(first.item);
    return first;
  }

  #dropLeft(): void {
    for (
      let first = this.#waiting[0];
      first !== undefined && this.#entries.get(first.item) !== first;
      first = this.#waiting[0]
    ) this.#removeFirst();
  }

  /** Removes stale entries before they accumulate. */
  #compact(): void {
    if (this.#waiting.length < 2 * this.#entries.size + 64) return;
    const current = this.#waiting.splice(0).filter((entry) => this.#entries.get(entry.item) === entry);
    for (const entry of current) this.#push(entry);
  }

  #push(entry: HeapEntry<T>): void {
    const heap = this.#waiting;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || above.dueAt <= entry.dueAt) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = entry;
  }

  #removeFirst(): void {
    const heap = this.#waiting;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      let below = heap[child];
      const right = heap[child + 1];
      if (below !== undefined && right !== undefined && right.dueAt < below.dueAt) {
        child++;
        below = right;
      }
      if (below === undefined || below.dueAt >= last.dueAt) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
  }
}
