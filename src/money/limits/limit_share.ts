import type { Clock } from "../../platform/lib/basics/clock.ts";
import type { LeasedShare, ShareDemand, ShareLeases } from "../../platform/store/share_leases.ts";
import type { Key } from "../../platform/store/store.ts";

/** What the shares of limits need. */
export interface ShareOptions {
  readonly clock: Clock;
  readonly leases: ShareLeases;
}

/** The outcome of a lease for a call. */
export interface ShareAnswer extends LeasedShare {
  /** Whether all that waiting calls needed was leased. */
  readonly isWhole: boolean;
}

/** A lease is not used in the last part of its duration, while its statement may have been under way. */
const LEASE_MARGIN_MS = 2_000;
const MINUTE_MS = 60_000;
/** Others may return their leases meanwhile. */
const MAX_SHORT_MS = 200;

/**
 * What this process may use of a limit that other processes share. What it has reserved, and has used since its last
 * demand, stays within its lease. A call that the lease does not cover waits for a larger one, or is refused.
 *
 *     no lease ─ a call is not covered → leased, with a spare part → calls are covered, half the time passed → again
 *         ▲                                                          │ no call since the last look
 *         └────────────── nothing reserved ──────────────────────────┘
 */
export class LimitShare {
  #leased = 0n;
  /** When the lease can no longer be used, by the monotonic clock. */
  #leasedUntil = -Infinity;
  #reserved = 0n;
  #used = 0n;
  /** What waiting calls need. */
  #wanted = 0n;
  #isUsed = false;
  #demand: Promise<ShareAnswer | null> | null = null;
  #limit = 0n;
  #shortUnits = 0n;
  #shortUntil = -Infinity;
  #answer: (LeasedShare & { readonly at: number }) | null = null;

  constructor(readonly name: Key, private readonly refills: boolean, private readonly options: ShareOptions) {}

  /** What open calls have reserved. */
  get reserved(): bigint {
    return this.#reserved;
  }

  /** The limit as of the last demand. */
  get limit(): bigint {
    return this.#limit;
  }

  /** Resolves or rejects with the demand that is under way; null if there is none. Until then nothing is covered. */
  get pending(): Promise<unknown> | null {
    return this.#demand;
  }

  /** Whether nothing is leased, reserved or used without the store. */
  get isIdle(): boolean {
    return this.#reserved === 0n && this.#used === 0n && this.#leasedUntil === -Infinity;
  }

  /** Whether more units are within the lease. */
  covers(units: bigint): boolean {
    return this.options.clock.monotonicMs() < this.#leasedUntil && this.#reserved + this.#used + units <= this.#leased;
  }

  /** Reserves units until {@linkcode LimitShare.settle}. */
  reserve(units: bigint): void {
    this.#reserved += units;
    this.#isUsed = true;
  }

  /** Ends a reservation and uses what was consumed in its place. */
  settle(reserved: bigint, used: bigint): void {
    this.#reserved -= reserved;
    this.#used += used;
    this.#isUsed = true;
    this.#shortUntil = -Infinity;
  }

  /** Sets what was used without the limit being less by it. For limits that are not regained within a minute. */
  setUsed(used: bigint): void {
    this.#used = used;
  }

  /**
   * Leases units for a call, as many as are free. Calls that wait at one time share a statement. Another call can use
   * them first. Rejects as the store does.
   *
   * @param limit The limit now.
   * @returns Null if the limit changed meanwhile.
   */
  async lease(units: bigint, limit: bigint, since?: ShareDemand["since"]): Promise<ShareAnswer | null> {
    this.#limit = limit;
    this.#wanted += units;
    try {
      // A demand under way may have been sent without these units, the next one has them.
      if (this.#demand !== null) await this.#demand.catch(() => {});
      return await this.#replace(since);
    } finally {
      this.#wanted -= units;
    }
  }

  /** Returns what is not reserved. Rejects as the store does. */
  async giveBack(): Promise<void> {
    if (this.#demand !== null) await this.#demand.catch(() => {});
    this.#isUsed = false;
    if (this.#leased > this.#reserved + this.#used) await this.#replace();
  }

  /**
   * Whether the lease must be replaced: it is in use and half over, or some of it is not in use. Called every few
   * seconds.
   *
   * @param isLast Whether no call follows, at the end of the process.
   */
  isRenewalDue(isLast = false): boolean {
    if (this.isIdle || (this.#demand !== null && !isLast)) return false;
    const { leases, clock } = this.options;
    const isHalfOver = clock.monotonicMs() > this.#leasedUntil + LEASE_MARGIN_MS - leases.durationMs / 2;
    const wasUsed = this.#isUsed;
    if (isLast || !isHalfOver) this.#isUsed = false;
    if (isLast || isHalfOver) return true;
    return !wasUsed && (this.#used > 0n || this.#reserved !== this.#leased);
  }

  /** Notes that so many units are not free for some time, so that calls that ask too often cost no statement. */
  noteShort(units: bigint, waitMs: number): void {
    this.#shortUnits = units;
    this.#shortUntil = this.options.clock.monotonicMs() + Math.min(waitMs, MAX_SHORT_MS);
  }

  /** Whether so many units were not free a moment ago. */
  isShortOf(units: bigint): boolean {
    return units >= this.#shortUnits && this.options.clock.monotonicMs() < this.#shortUntil;
  }

  /** Requires a statement for units that were not free a moment ago. */
  forgetShort(): void {
    this.#shortUntil = -Infinity;
  }

  /** Whether other processes leased of the limit at the last demand. */
  get isHeldElsewhere(): boolean {
    return this.#answer !== null && this.#answer.others > 0n;
  }

  /** Ends the use of the spare part. Returns whether some of the lease may be returned. */
  endSpare(): boolean {
    this.#isUsed = false;
    // What was used of a budget is in the ledger soon, and then no part of the lease.
    const used = this.refills ? this.#used : 0n;
    return this.#demand !== null || this.#leased > this.#reserved + used;
  }

  /** What the limit has left, as of the last demand and what this process did since; null before the first one. */
  get left(): number | null {
    if (this.#answer === null) return null;
    const { used, others, at } = this.#answer;
    const limit = Number(this.#limit);
    const regained = this.refills ? (this.options.clock.monotonicMs() - at) * limit / MINUTE_MS : 0;
    return limit - Math.max(0, used - regained) - Number(others + this.#reserved + this.#used);
  }

  /** Until the answer, and after a failure, new calls find no lease, since the store may have a smaller one already. */
  #replace(since?: ShareDemand["since"]): Promise<ShareAnswer | null> {
    return this.#demand ??= this.#send(since).finally(() => this.#demand = null);
  }

  async #send(since: ShareDemand["since"]): Promise<ShareAnswer | null> {
    const { leases, clock } = this.options;
    const { refills } = this;
    const [used, reserved, wanted] = [this.#used, this.#reserved, this.#wanted];
    // Used units that are not regained are kept: the limit is not less by them, until it is computed again.
    const kept = refills ? reserved : reserved + used;
    const hasSpare = wanted > 0n || this.#isUsed;
    const sentAt = clock.monotonicMs();
    this.#isUsed = false;
    this.#leased = 0n;
    this.#leasedUntil = sentAt;
    const limit = this.#limit;
    const answer = await leases.lease(this.name, {
      limit,
      refills,
      used,
      kept,
      wanted,
      hasSpare,
      ...since && { since },
    });
    if (answer === null) return null;
    if (refills) this.#used -= used;
    this.#answer = { ...answer, at: clock.monotonicMs() };
    this.#leased = answer.leased;
    this.#leasedUntil = answer.leased === 0n ? -Infinity : sentAt + leases.durationMs - LEASE_MARGIN_MS;
    return { ...answer, isWhole: answer.leased >= kept + wanted };
  }
}
