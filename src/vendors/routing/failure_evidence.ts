import type { Clock } from "../../platform/lib/basics/clock.ts";

/** Limits of {@linkcode FailureEvidence}. */
export interface FailureEvidenceOptions {
  readonly clock: Clock;
  /** The time window for failures and traffic, in milliseconds. */
  readonly windowMs: number;
  /** The number of latest failures kept. */
  readonly maxFailures: number;
}

/** The accounts that failures apply to: one account, or all. */
export interface FailureScope {
  /** Null for all accounts. */
  readonly accountId: string | null;
}

interface Sighting {
  readonly accountId: string;
  at: number;
}

/**
 * Consecutive failures that a caller may have caused, with the accounts that had them. The failures of one account
 * prove nothing about the vendor while other accounts use it. Memory is constant: the latest `maxFailures` failures,
 * and the latest two accounts with traffic.
 */
export class FailureEvidence {
  #failures: Sighting[] = [];
  #latest: Sighting | null = null;
  #latestOther: Sighting | null = null;

  /** @param options See {@linkcode FailureEvidenceOptions}. */
  constructor(readonly options: FailureEvidenceOptions) {}

  /** The account sends a request. */
  onTraffic(accountId: string): void {
    const at = this.options.clock.monotonicMs();
    if (this.#latest?.accountId === accountId) {
      this.#latest.at = at;
      return;
    }
    if (this.#latest !== null) this.#latestOther = this.#latest;
    this.#latest = { accountId, at };
  }

  /** The account's request failed. */
  onFailure(accountId: string): void {
    this.#failures.push({ accountId, at: this.options.clock.monotonicMs() });
    if (this.#failures.length > this.options.maxFailures) this.#failures.shift();
  }

  /** A success resets the failures. */
  clear(): void {
    if (this.#failures.length > 0) this.#failures = [];
  }

  /** Whether two accounts had failures within the window. */
  get isShared(): boolean {
    const recent = this.#recentFailures();
    return recent.some(({ accountId }) => accountId !== recent[0]?.accountId);
  }

  /**
   * The accounts that the failures apply to: all accounts if two accounts had failures within the window, or one
   * account if it sent all traffic. Null while they prove nothing.
   *
   * @param minFailures The number of consecutive failures required within the window.
   */
  scope(minFailures: number): FailureScope | null {
    const recent = this.#recentFailures();
    const [first] = recent;
    if (first === undefined || recent.length < minFailures) return null;
    if (this.isShared) return { accountId: null };
    const { accountId } = first;
    return this.#hasOtherTraffic(accountId) ? null : { accountId };
  }

  #recentFailures(): readonly Sighting[] {
    return this.#failures.filter((failure) => this.#isRecent(failure));
  }

  #hasOtherTraffic(accountId: string): boolean {
    const other = this.#latest?.accountId === accountId ? this.#latestOther : this.#latest;
    return other !== null && this.#isRecent(other);
  }

  #isRecent({ at }: Sighting): boolean {
    return at > this.options.clock.monotonicMs() - this.options.windowMs;
  }
}
