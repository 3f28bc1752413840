/** What waits for its turn to be polled. */
export interface Queued {
  /** Whose it is: accounts take turns. */
  readonly account: string;
}

/** A place in the order of due times. One that its item left counts for nothing. */
interface Place<T> {
  readonly dueAt: number;
  readonly item: T;
  readonly isUrgent: boolean;
}

/**
 * What is to be polled at one provider, each at its time. When the provider's budget leaves several due, their accounts
 * take turns, so that an account with thousands of tasks does not delay another's only one; within an account they go
 * in the order of their times. All instants are monotonic milliseconds.
 */
export class PollQueue<T extends Queued> {
  /** A binary heap by due time. */
  readonly #waiting: Place<T>[] = [];
  readonly #places = new Map<T, Place<T>>();
  /** Due, by account; the account whose turn is next stands first, no list is empty. */
  readonly #due = new Map<string, T[]>();
  #dueCount = 0;

  /**
   * Puts an item into the queue, or moves it to another time.
   *
   * @param isUrgent Whether it goes before what is due of its account.
   */
  add(item: T, dueAt: number, isUrgent = false): void {
    this.remove(item);
    const place = { dueAt, item, isUrgent };
    this.#places.set(item, place);
    this.#push(place);
  }

  /** Takes an item out; one that is not in the queue is passed over. */
  remove(item: T): void {
    if (this.#places.delete(item)) return this.#compact();
    const list = this.#due.get(item.account);
    const at = list?.indexOf(item) ?? -1;
    if (!list || at < 0) return;
    list.splice(at, 1);
    this.#dueCount--;
    if (list.length === 0) this.#due.delete(item.account);
  }

  /** When the next item is due; in the past for one that waits for its turn, infinite when the queue is empty. */
  get nextAt(): number {
    if (this.#dueCount > 0) return -Infinity;
    this.#dropLeft();
    return this.#waiting[0]?.dueAt ?? Infinity;
  }

  /**
   * Takes what is due.
   *
   * @param most How many at most.
   * @param aheadMs When something is due and there is room, what is due within that time comes along.
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

  /** The first item of the account whose turn is next; null when nothing is due. */
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

  /** The first item that is due by an instant; null for none. */
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

  /** Places that their items left must not pile up. */
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
