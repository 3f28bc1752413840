import type { Clock } from "../lib/clock.ts";

/** What failures are measured against. */
export interface FailureEvidenceOptions {
  readonly clock: Clock;
  /** How far back failures and traffic count, in milliseconds. */
  readonly windowMs: number;
  /** How many of the latest failures are kept. */
  readonly maxFailures: number;
}

/** To whom failures apply: one account, or everybody. */
export interface FailureScope {
  /** Null for every account. */
  readonly accountId: string | null;
}

interface Sighting {
  readonly accountId: string;
  readonly at: number;
}

/**
 * Failures in a row that a caller may have caused, and which accounts saw them. One account's failures prove nothing
 * about the vendor while other accounts use it. Memory is constant: the latest `maxFailures` failures, and the latest
 * two accounts with traffic.
 */
export class FailureEvidence {
  #failures: Sighting[] = [];
  #latest: Sighting | null = null;
  #latestOther: Sighting | null = null;

  /** @param options See {@linkcode FailureEvidenceOptions}. */
  constructor(readonly options: FailureEvidenceOptions) {}

  /** The account sends a request. */
  onTraffic(accountId: string): void {
    const sighting = { accountId, at: this.options.clock.monotonicMs() };
    if (this.#latest !== null && this.#latest.accountId !== accountId) this.#latestOther = this.#latest;
    this.#latest = sighting;
  }

  /** The account's request failed. */
  onFailure(accountId: string): void {
    this.#failures.push({ accountId, at: this.options.clock.monotonicMs() });
    if (this.#failures.length > this.options.maxFailures) this.#failures.shift();
  }

  /** A success ends the row. */
  clear(): void {
    this.#failures = [];
  }

  /** Whether two accounts saw failures within the window. */
  get isShared(): boolean {
    const recent = this.#recentFailures();
    return recent.some(({ accountId }) => accountId !== recent[0]?.accountId);
  }

  /**
   * To whom the failures apply: everybody when two accounts saw them within the window, the one account when it was all
   * the traffic there was. Null while they prove nothing.
   *
   * @param minFailures How many failures in a row are needed within the window.
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
