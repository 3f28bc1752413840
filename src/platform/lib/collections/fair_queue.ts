/**
 * A queue with one sub-queue per account, served round-robin. An account with many items delays another account's item
 * by at most one of its own.
 */
export class FairQueue<T extends NonNullable<unknown>> {
  /** In round-robin order. No sub-queue is empty. */
  readonly #queues = new Map<string, T[]>();
  #size = 0;

  /** The number of queued items. */
  get size(): number {
    return this.#size;
  }

  /** The number of queued items of one account. */
  sizeOf(account: string): number {
    return this.#queues.get(account)?.length ?? 0;
  }

  /** The number of accounts with queued items for which `isCounted` holds. */
  countAccounts(isCounted: (account: string) => boolean): number {
    let count = 0;
    for (const account of this.#queues.keys()) if (isCounted(account)) count++;
    return count;
  }

  /** Adds an item at the end of the account's sub-queue. */
  push(account: string, item: T): void {
    const queue = this.#queues.get(account);
    if (queue) queue.push(item);
    else this.#queues.set(account, [item]);
    this.#size++;
  }

  /**
   * Returns the next item and leaves it in the queue. Returns null if the queue is empty.
   *
   * @param isPreferred Accounts for which it holds are served before the others. Default: all are equal.
   */
  peek(isPreferred?: (account: string) => boolean): T | null {
    return this.#next(isPreferred)?.[1][0] ?? null;
  }

  /** Removes and returns the item that {@linkcode FairQueue.peek} returns. */
  shift(isPreferred?: (account: string) => boolean): T | null {
    const next = this.#next(isPreferred);
    return next === null ? null : this.shiftOf(next[0]);
  }

  /** Removes and returns the first item of an account. Returns null if it has none. */
  shiftOf(account: string): T | null {
    const queue = this.#queues.get(account);
    const item = queue?.shift();
    if (queue === undefined || item === undefined) return null;
    this.#queues.delete(account);
    // Move the account to the end of the round.
    if (queue.length > 0) this.#queues.set(account, queue);
    this.#size--;
    return item;
  }

  /** Removes an item. Returns false if the item is not queued. */
  remove(account: string, item: T): boolean {
    const queue = this.#queues.get(account) ?? [];
    const at = queue.indexOf(item);
    if (at < 0) return false;
    queue.splice(at, 1);
    if (queue.length === 0) this.#queues.delete(account);
    this.#size--;
    return true;
  }

  #next(isPreferred: (account: string) => boolean = () => true): [string, T[]] | null {
    let first: [string, T[]] | null = null;
    for (const each of this.#queues) {
      if (isPreferred(each[0])) return each;
      first ??= each;
    }
    return first;
  }
}
