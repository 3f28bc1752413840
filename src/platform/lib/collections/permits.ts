import { FairQueue } from "./fair_queue.ts";
import { Holdings } from "./holdings.ts";

/** How many operations run simultaneously: of each account, or of all together. */
type PermitLimit = { readonly each: number } | { readonly inAll: number };

/**
 * Limits how many operations run simultaneously. Others wait: those of an account in order of arrival, and accounts
 * that wait for the same permits take turns.
 */
export class FairPermits {
  readonly #running = new Holdings();
  readonly #waiting = new FairQueue<() => void>();

  constructor(private readonly limit: PermitLimit) {}

  /** The number of operations of an account that wait. */
  waitingOf(account: string): number {
    return this.#waiting.sizeOf(account);
  }

  /** Runs `work` as soon as it is the account's turn. */
  async run<T>(account: string, work: () => Promise<T>): Promise<T> {
    const { limit } = this;
    const [holder, max] = "each" in limit ? [account, limit.each] : [ALL, limit.inAll];
    if (this.#running.of(holder) < max) this.#running.add(holder, 1);
    else await new Promise<void>((resolve) => this.#waiting.push(account, resolve));
    try {
      return await work();
    } finally {
      const next = "each" in limit ? this.#waiting.shiftOf(account) : this.#waiting.shift();
      if (next === null) this.#running.add(holder, -1);
      else next(); // the operation that ends passes its permit on
    }
  }
}

/** No account has this name. */
const ALL = "";
