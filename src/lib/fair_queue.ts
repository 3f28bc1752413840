/**
 * Items that wait, in a queue per account. The accounts take turns, so an account with many items delays another
 * account's item by at most one of its own at a time.
 */
export class FairQueue<T> {
  /** In the order of the accounts' turns. No queue is empty. */
  readonly #queues = new Map<string, T[]>();
  #size = 0;

  /** How many items wait. */
  get size(): number {
    return this.#size;
  }

  /** How many items of one account wait. */
  sizeOf(account: string): number {
    return this.#queues.get(account)?.length ?? 0;
  }

  /** Adds an item behind the others of its account. */
  push(account: string, item: T): void {
    const queue = this.#queues.get(account);
    if (queue) queue.push(item);
    else this.#queues.set(account, [item]);
    this.#size++;
  }

  /** Takes the next item: the first of the account whose turn it is. Null when nothing waits. */
  shift(): T | null {
    for (const [account, queue] of this.#queues) {
      const item = queue.shift()!;
      this.#queues.delete(account);
      // Behind the others: it has had its turn.
      if (queue.length > 0) this.#queues.set(account, queue);
      this.#size--;
      return item;
    }
    return null;
  }

  /** Takes an item out; false when it does not wait. */
  remove(account: string, item: T): boolean {
    const queue = this.#queues.get(account) ?? [];
    const at = queue.indexOf(item);
    if (at < 0) return false;
    queue.splice(at, 1);
    if (queue.length === 0) this.#queues.delete(account);
    this.#size--;
    return true;
  }
}
