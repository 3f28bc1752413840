import type { Clock } from "../../../platform/lib/basics/clock.ts";

/** The right to make one call; disposing of it frees the place. */
export type Permit = Disposable;

/** Minimum delay before a job that got no permit tries again. */
const MIN_RETRY_MS = 1_000;
/** Maximum delay, regardless of the number of waiting jobs. */
const MAX_RETRY_MS = 120_000;
/** Minimum interval between two attempts at one provider, which bounds the store load of a long queue. */
const RETRY_SPACING_MS = 20;

/**
 * Limits the concurrent calls to each provider and shares them among accounts. A provider that does not respond delays
 * no other provider, and an account delays no other account.
 *
 * An account gets another permit of a provider while it holds fewer than are free. A single account gets half of them.
 * With n accounts, each gets one part in n + 1, and one part stays free for the next account. This is the dynamic
 * threshold described at {@linkcode MemoryBudget}.
 */
export class ConcurrencyLimiter {
  readonly #providers = new Map<string, ProviderPermits>();

  /**
   * @param maxPerProvider Permits of each provider.
   * @param clock Its monotonic time schedules retries.
   */
  constructor(readonly maxPerProvider: number, readonly clock: Pick<Clock, "monotonicMs">) {}

  /** Returns a permit to call the provider for the account; null if none is available. */
  acquire(provider: string, account: string): Permit | null {
    return this.#of(provider).acquire(account);
  }

  /**
   * Returns the delay in milliseconds before a job without a permit tries again: one second, or more if many wait. The
   * jobs of an account get consecutive instants; accounts do not delay each other.
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
  /** Latest scheduled retry of each account, in monotonic milliseconds. */
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
