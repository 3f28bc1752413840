import { FairQueue } from "./fair_queue.ts";

/** Limits how many operations of one key run at once. Others wait in order of arrival. */
export class PermitsByKey {
  readonly #running = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  /** @param maxConcurrent Per key. */
  constructor(readonly maxConcurrent: number) {}

  /** The number of operations of a key that wait. */
  waitingOf(key: string): number {
    return this.#waiting.get(key)?.length ?? 0;
  }

  /** Runs `work` as soon as a permit is free. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    await this.#begin(key);
    try {
      return await work();
    } finally {
      this.#end(key);
    }
  }

  async #begin(key: string): Promise<void> {
    const running = this.#running.get(key) ?? 0;
    if (running < this.maxConcurrent) return void this.#running.set(key, running + 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(key) ?? [];
    waiting.push(resolve);
    this.#waiting.set(key, waiting);
    await promise; // the operation that ends passes its permit on
  }

  #end(key: string): void {
    const waiting = this.#waiting.get(key);
    const next = waiting?.shift();
    if (waiting?.length === 0) this.#waiting.delete(key);
    if (next !== undefined) return next();
    const running = this.#running.get(key)! - 1;
    if (running === 0) this.#running.delete(key);
    else this.#running.set(key, running);
  }
}

/** Limits how many operations run at once. Others wait, and the accounts that wait take turns. */
export class FairPermits {
  readonly #waiting = new FairQueue<() => void>();
  #running = 0;

  /** @param maxConcurrent Of all accounts together. */
  constructor(readonly maxConcurrent: number) {}

  /** Runs `work` as soon as it is the account's turn. */
  async run<T>(account: string, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.maxConcurrent) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.push(account, resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift(); // the operation that ends passes its permit on
      if (next === null) this.#running--;
      else next();
    }
  }
}
