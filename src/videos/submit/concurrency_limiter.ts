import type { Clock } from "../../lib/clock.ts";

/** The right to make one call; given back when it is disposed of. */
export type Permit = Disposable;

/** From a job that found no permit to its next attempt, at least. */
const MIN_RETRY_MS = 1_000;
/** The same at most, however many jobs wait. */
const MAX_RETRY_MS = 120_000;
/** Between two attempts at one provider, so that a long queue costs the store little. */
const RETRY_SPACING_MS = 20;

/**
 * Bounds the calls that are under way at each provider and shares them among accounts, so that one provider that does
 * not answer holds up no other, and one account no other account.
 *
 * An account gets another permit of a provider as long as it holds fewer than are free. Alone it gets half of them; of
 * n accounts each gets one part in n + 1, and one part stays free for the next. (This is the dynamic threshold that
 * {@linkcode MemoryBudget} describes.)
 */
export class ConcurrencyLimiter {
  readonly #providers = new Map<string, ProviderPermits>();

  /**
   * @param maxPerProvider Permits of each provider.
   * @param clock Rows of retries are kept by its monotonic side.
   */
  constructor(readonly maxPerProvider: number, readonly clock: Pick<Clock, "monotonicMs">) {}

  /** A permit to call the provider for the account; null when it must wait. */
  acquire(provider: string, account: string): Permit | null {
    return this.#of(provider).acquire(account);
  }

  /**
   * How long a job that got no permit is to wait for its next attempt, in milliseconds: a second, or more when many
   * wait. Jobs of one account get instants in a row; each account has its own.
   */
  retryDelayMs(provider: string, account: string): number {
    const now = this.clock.monotonicMs();
    return this.#of(provider).retryAt(account, now) - now;
  }

  #of(provider: string): ProviderPermits {
    let permits = this.#providers.get(provider);
    if (permits === undefined) this.#providers.set(provider, permits = new ProviderPermits(this.maxPerProvider));
    return permits;
  }
}

/** The permits of one provider. */
class ProviderPermits {
  readonly #heldBy = new Map<string, number>();
  /** The last instant of each account's row, in monotonic milliseconds. */
  readonly #lastRetryAt = new Map<string, number>();
  #free: number;

  constructor(max: number) {
    this.#free = max;
  }

  acquire(account: string): Permit | null {
    const held = this.#heldBy.get(account) ?? 0;
    if (held >= this.#free) return null;
    this.#free--;
    this.#heldBy.set(account, held + 1);
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#giveBack(account);
        isHeld = false;
      },
    };
  }

  retryAt(account: string, now: number): number {
    for (const [each, at] of this.#lastRetryAt) if (at <= now) this.#lastRetryAt.delete(each);
    const last = this.#lastRetryAt.get(account) ?? -Infinity;
    const spacing = RETRY_SPACING_MS * Math.max(this.#lastRetryAt.size, 1);
    const at = Math.min(Math.max(last + spacing, now + MIN_RETRY_MS), now + MAX_RETRY_MS);
    this.#lastRetryAt.set(account, at);
    return at;
  }

  #giveBack(account: string): void {
    const held = this.#heldBy.get(account)! - 1;
    if (held > 0) this.#heldBy.set(account, held);
    else this.#heldBy.delete(account);
    this.#free++;
  }
}
