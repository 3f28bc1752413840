import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { Holdings, shareOfRest } from "../../../platform/lib/collections/holdings.ts";

/** The right to make one call; disposing of it frees the place. */
export type Permit = Disposable;

/** Minimum delay before a job that got no permit tries again. */
const MIN_RETRY_MS = 1_000;
/** Maximum delay, regardless of the number of waiting jobs. */
const MAX_RETRY_MS = 120_000;
/** Minimum interval between two attempts at one provider, which bounds the store load of a long queue. */
const RETRY_SPACING_MS = 20;
/** The part of the permits that others leave for one account. */
const ACCOUNT_SHARE = 1 / 2;

/**
 * Limits the concurrent calls to each provider and shares them among accounts. A provider that does not respond delays
 * no other provider, and an account delays no other account.
 *
 * An account gets another permit of a provider while it holds fewer than are free. A single account gets half of them.
 * With n accounts, each gets one part in n + 1, and one part stays free for the next account. See
 * {@linkcode shareOfRest}.
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
  readonly #held = new Holdings();
  /** Latest scheduled retry of each account, in monotonic milliseconds. */
  readonly #lastRetryAt = new Map<string, number>();

  constructor(private readonly max: number) {}

  acquire(account: string): Permit | null {
    const ofOthers = this.#held.total - this.#held.of(account);
    const giveBack = this.#held.take([[account, shareOfRest(this.max, ofOthers, ACCOUNT_SHARE)]]);
    return giveBack && { [Symbol.dispose]: giveBack };
  }

  retryAt(account: string, now: number): number {
    for (const [each, at] of this.#lastRetryAt) if (at <= now) this.#lastRetryAt.delete(each);
    const last = this.#lastRetryAt.get(account) ?? -Infinity;
    const spacing = RETRY_SPACING_MS * Math.max(this.#lastRetryAt.size, 1);
    const at = Math.min(Math.max(last + spacing, now + MIN_RETRY_MS), now + MAX_RETRY_MS);
    this.#lastRetryAt.set(account, at);
    return at;
  }
}
