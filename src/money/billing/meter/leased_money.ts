import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type { MoneyLeases, SharedBalance } from "../../../platform/store/money_leases.ts";
import type { Store } from "../../../platform/store/store.ts";

/** The dependencies of {@linkcode LeasedMoney}. */
export interface LeasedMoneyOptions {
  readonly store: Pick<Store, "balance">;
  readonly clock: Clock;
  /** Leases of the money, if other processes spend it too. Default: none do. */
  readonly leases?: MoneyLeases | null;
}

/** A lease is not used in the last part of its duration, while its statement may have been under way. */
const LEASE_MARGIN_MS = 2_000;

/**
 * The balance of one account as of the last read, and the part of it that this process leases, if others spend it too.
 * What this process has reserved, and has charged without the ledger, stays within the lease: it is `kept`.
 *
 *     no lease ─ a call does not fit → leased, with a spare part → calls fit, half the time passed → leased again
 *         ▲                                                        │ no call since the last look
 *         └────────────── no open call or charge ──────────────────┘
 */
export class LeasedMoney {
  #available: Money = 0n;
  #overdraft: Money = 0n;
  /** What other processes lease. */
  #others: Money = 0n;
  /** What this process may reserve and charge. Below what it has in the store while a lease is being replaced. */
  #leased: Money = 0n;
  /** When the lease can no longer be used, by the monotonic clock. */
  #leasedUntil = -Infinity;
  /** What waiting calls need. */
  #wanted: Money = 0n;
  #isRenewalDue = false;
  #isUsed = false;

  /** @param kept Returns what the process has reserved, and has charged without the ledger. */
  constructor(
    readonly account: string,
    private readonly kept: () => Money,
    private readonly options: LeasedMoneyOptions,
  ) {}

  /** The available balance and the overdraft. */
  get total(): Money {
    return this.#available + this.#overdraft;
  }

  /** What other processes lease of it. */
  get others(): Money {
    return this.#others;
  }

  /** Whether this process leases nothing. */
  get isIdle(): boolean {
    return this.#leasedUntil === -Infinity;
  }

  /** Whether the next read replaces the lease, since some of it is due or not in use. */
  get isRenewalDue(): boolean {
    return this.#isRenewalDue;
  }

  /** Whether an amount is within the lease. Always if no other process spends the balance. */
  covers(amount: Money): boolean {
    const { leases = null, clock } = this.options;
    if (leases === null || amount === 0n) return true;
    return clock.monotonicMs() < this.#leasedUntil && this.kept() + amount <= this.#leased;
  }

  /** Notes that a call begins, so that the lease stays. */
  noteUse(): void {
    this.#isUsed = true;
  }

  /** Notes charges that are in the ledger. */
  onWritten(amount: Money): void {
    this.#available -= amount;
    // In the store the lease is smaller only when it is replaced. Until then it hides the amount from others.
    this.#leased -= amount;
  }

  /** Does a read that leases an amount, if it is free. */
  async want(amount: Money, read: () => Promise<void>): Promise<void> {
    this.#wanted += amount;
    try {
      await read();
    } finally {
      this.#wanted -= amount;
    }
  }

  /**
   * Decides whether the lease must be replaced by a read: it is in use and half over, or some of it is not in use.
   *
   * @param isLast Whether no call follows, at the end of the process.
   */
  startRenewal(isLast: boolean): boolean {
    const { leases = null, clock } = this.options;
    if (leases === null || this.isIdle) return false;
    const isHalfOver = clock.monotonicMs() > this.#leasedUntil + LEASE_MARGIN_MS - leases.durationMs / 2;
    if (this.#isUsed && !isLast && !isHalfOver) {
      this.#isUsed = false;
      return false;
    }
    const kept = this.kept();
    if (!isLast && !isHalfOver && kept > 0n && kept === this.#leased) return false;
    if (isLast) this.#isUsed = false;
    this.#isRenewalDue = true;
    return true;
  }

  /**
   * Reads the balance, and replaces the lease if calls wait for more of it or a renewal is due. Rejects as the store
   * does.
   */
  async read(): Promise<void> {
    const { leases = null, store } = this.options;
    if (leases === null) {
      const { available, overdraft = 0n } = await store.balance(this.account);
      this.#available = available;
      this.#overdraft = overdraft;
      return;
    }
    const isReplaced = this.#wanted > 0n || this.#isRenewalDue;
    const { available, overdraft, others } =
      await (isReplaced ? this.#replaceLease(leases) : leases.read(this.account));
    this.#available = available;
    this.#overdraft = overdraft;
    this.#others = others;
  }

  /** Until the answer, and after a failure, new calls find no lease, since the store may have a smaller one already. */
  async #replaceLease(leases: MoneyLeases): Promise<SharedBalance> {
    const { clock } = this.options;
    const demand = { kept: this.kept(), wanted: this.#wanted, hasSpare: this.#wanted > 0n || this.#isUsed };
    const sentAt = clock.monotonicMs();
    this.#isRenewalDue = false;
    this.#isUsed = false;
    this.#leased = 0n;
    this.#leasedUntil = sentAt;
    const { leased, ...balance } = await leases.lease(this.account, demand);
    this.#leased = leased;
    this.#leasedUntil = leased === 0n ? -Infinity : sentAt + leases.durationMs - LEASE_MARGIN_MS;
    return balance;
  }
}
