/** An item that waits to be polled. */
export interface Queued {
  /** Account of the task; accounts take turns. */
  readonly account: string;
}

/** A heap entry ordered by due time. It is stale if its item has moved. */
interface Place<T> {
  readonly dueAt: number;
  readonly item: T;
  readonly isUrgent: boolean;
}

/**
 * The items to poll at one provider, ordered by due time. If the rate limit leaves several due, their accounts take
 * turns. An account with thousands of tasks therefore does not delay the only task of another. Within an account, items
 * go in order of due time. All instants are monotonic milliseconds.
 */
export class PollQueue<T extends Queued> {
  /** A binary heap by due time. */
  readonly #waiting: Place<T>[] = [];
  readonly #places = new Map<T, Place<T>>();
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
    const place = { dueAt, item, isUrgent };
    this.#places.set(item, place);
    this.#push(place);
  }

  /** Removes an item; does nothing if it is not queued. */
  remove(item: T): void {
    if (this.#places.delete(item)) return this.#compact();
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
   * @param most Maximum number of items.
   * @param aheadMs If an item is due and there is room, items due within this time are included.
   */
  take(now: number, most: number, aheadMs: number): T[] {
    for (let place = this.#pop(now); place !== null; place = this.#pop(now)) this.#enterDue(place);
    const taken: T[] = [];
    while (taken.length < most) {
      const item = this.#shiftDue();
      if (item === null) break;
      taken.push(item);
    }
    while (taken.length > 0 && taken.length < most) {
      const place = this.#pop(now + aheadMs);
      if (place === null) break;
      taken.push(place.item);
    }
    return taken;
  }

  #enterDue({ item, isUrgent }: Place<T>): void {
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
  #pop(by: number): Place<T> | null {
    this.#dropLeft();
    const [first] = this.#waiting;
    if (first === undefined || first.dueAt > by) return null;
    this.#removeFirst();
    this.#places.delete(first.item);
    return first;
  }

  #dropLeft(): void {
    for (
      let first = this.#waiting[0];
      first !== undefined && this.#places.get(first.item) !== first;
      first = this.#waiting[0]
    ) this.#removeFirst();
  }

  /** Removes stale entries before they accumulate. */
  #compact(): void {
    if (this.#waiting.length < 2 * this.#places.size + 64) return;
    const current = this.#waiting.splice(0).filter((place) => this.#places.get(place.item) === place);
    for (const place of current) this.#push(place);
  }

  #push(place: Place<T>): void {
    const heap = this.#waiting;
    let at = heap.push(place) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || above.dueAt <= place.dueAt) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = place;
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
