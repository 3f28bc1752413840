import { type Clock, waitAtMost } from "../../platform/lib/basics/clock.ts";
import type { MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import type { Lessor, Recalls } from "./lessor.ts";

/** The longest wait for the report of a thread. What it leases is refused to others then. */
const PATIENCE_MS = 2_000;

/** The leases of all threads. */
export class Lessors implements Recalls {
  readonly #lessors = new Set<Lessor>();
  /** The number of recalls under way, by account. */
  readonly #recalling = new Map<string, number>();
  #nextId = 1;

  constructor(private readonly clock: Clock) {}

  /** Adds those of a thread that starts. */
  add(lessor: Lessor): void {
    this.#lessors.add(lessor);
  }

  /** Removes those of a thread that has ended. */
  remove(lessor: Lessor): void {
    this.#lessors.delete(lessor);
  }

  /** See {@linkcode Recalls.isRecalling}. */
  isRecalling(accountId: string): boolean {
    return this.#recalling.has(accountId);
  }

  /** See {@linkcode Recalls.recalled}. */
  recalled<T>(accountId: string, keyId: string | null, act: () => MaybePromise<T>): Promise<T> | null {
    if (!this.#has(accountId, keyId) && !this.isRecalling(accountId)) return null;
    return this.#recalled(accountId, keyId, act);
  }

  async #recalled<T>(accountId: string, keyId: string | null, act: () => MaybePromise<T>): Promise<T> {
    this.#recalling.set(accountId, (this.#recalling.get(accountId) ?? 0) + 1);
    try {
      await this.#ask(accountId, { keyId, ends: true });
      return await act();
    } finally {
      const count = (this.#recalling.get(accountId) ?? 1) - 1;
      if (count > 0) this.#recalling.set(accountId, count);
      else this.#recalling.delete(accountId);
    }
  }

  /** Resolves when the main thread has all charges that threads made of an account. Null if none has a lease of it. */
  reported(accountId: string): Promise<void> | null {
    return this.#has(accountId, null) ? this.#ask(accountId, { keyId: null, ends: false }) : null;
  }

  /** Resolves when all charges that threads have made are with the main thread. */
  async allReported(): Promise<void> {
    const accounts = new Set([...this.#lessors].flatMap((lessor) => [...lessor.accounts]));
    // A report is about all accounts.
    const [any] = accounts;
    if (any !== undefined) await this.#askThreads([...this.#lessors], any, { keyId: null, ends: false });
  }

  #has(accountId: string, keyId: string | null): boolean {
    for (const lessor of this.#lessors) if (lessor.hasLeases(accountId, keyId)) return true;
    return false;
  }

  #ask(accountId: string, how: { readonly keyId: string | null; readonly ends: boolean }): Promise<void> {
    const asked = [...this.#lessors].filter((lessor) => lessor.hasLeases(accountId, how.keyId));
    return this.#askThreads(asked, accountId, how);
  }

  async #askThreads(
    lessors: readonly Lessor[],
    accountId: string,
    how: { readonly keyId: string | null; readonly ends: boolean },
  ): Promise<void> {
    const id = this.#nextId++;
    const asked = Promise.all(lessors.map((lessor) => lessor.ask(id, { accountId, ...how })));
    await waitAtMost(this.clock, PATIENCE_MS, asked);
  }
}
