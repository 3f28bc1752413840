import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { AccountLimiter } from "../../limits/account_limiter.ts";
import type { SharedDemand } from "../../limits/limit_leases.ts";
import type { LimitedCaller } from "../../limits/limited_caller.ts";
import type { ShareLeases } from "../../../platform/store/share_leases.ts";
import { type OpenCall, OpenCalls } from "./open_calls.ts";
import { BudgetReads, type BudgetReadsOptions } from "./budget_reads.ts";
import { LeasedMoney, type LeasedMoneyOptions } from "./leased_money.ts";
import type { CallLease, LeaseUnits } from "./call_lease.ts";
import type { ChargeRow } from "../ledger/charge.ts";
import type { ChargeGroup } from "../ledger/charge_group.ts";
import { ChargeQueue, type ChargeQueueOptions } from "../ledger/charge_queue.ts";
import { inTurn } from "../../../platform/lib/collections/in_turn.ts";

/** The dependencies of an account meter. */
export interface AccountMeterOptions
  extends
    Omit<ChargeQueueOptions, "onWritten">,
    Pick<LeasedMoneyOptions, "leases">,
    Pick<BudgetReadsOptions, "readSpent"> {
  /** Returns the open calls that the account can have. Default: no limit. */
  readonly accountConcurrency?: () => number;
  /** Leases of the limits, if other processes have them too. Default: none do. */
  readonly shareLeases?: ShareLeases | null;
  /** The processes that have the limits, with this one. Default: not known, so that small limits return late. */
  readonly gateways?: () => number;
}

/**
 * One account's balance as this process knows it. Reads of the balance and commits of charges run one after another.
 * The balance read from the store, less the charges that are not in the ledger yet, is therefore exact but for changes
 * by others: holds, credits, other processes.
 *
 * If other processes spend the balance too, this one leases a part of it from the store: {@linkcode LeasedMoney}.
 */
export class AccountMeter {
  /** Calls that may still reserve or charge. While there are any, the meter must not be evicted. */
  userCount = 0;
  readonly #charges: ChargeQueue;
  readonly #money: LeasedMoney;
  readonly #budgets: BudgetReads;
  #readAt = -Infinity;
  #generation = 0;
  #reading: PromiseWithResolvers<void> | null = null;
  /** The calls that may still charge, with those that threads have leased. */
  readonly calls: OpenCalls;
  /** The limits of the account and its keys. */
  readonly limiter: AccountLimiter;

  constructor(readonly account: string, private readonly options: AccountMeterOptions) {
    const { shareLeases = null, clock, gateways = () => 1 } = options;
    const shares = shareLeases === null ? null : { clock, leases: shareLeases, account, gateways };
    this.calls = new OpenCalls(() => this.limiter);
    this.limiter = new AccountLimiter({
      ...options,
      now: () => options.store.now(),
      openCalls: this.calls,
      shares,
    });
    this.#money = new LeasedMoney(account, () => this.calls.reserved + this.#charges.pending, options);
    this.#charges = new ChargeQueue(account, { ...options, onWritten: (amount) => this.#money.onWritten(amount) });
    this.#budgets = new BudgetReads({
      ...options,
      account,
      charges: this.#charges,
      budgets: this.limiter.budgets,
      generation: () => this.#generation,
    });
  }

  /** The amount that new calls can reserve: the credit less all reservations. */
  get spendable(): Money {
    return this.credit - this.calls.reserved;
  }

  /**
   * The last known available balance less the charges that are not in the ledger yet and what other processes lease,
   * plus the account's overdraft.
   */
  get credit(): Money {
    return this.#ownCredit - this.#money.others;
  }

  get #ownCredit(): Money {
    return this.#money.total - this.#charges.pending;
  }

  /** Whether a reservation is within the lease of this process. Always if no other one spends the balance. */
  covers(amount: Money): boolean {
    return this.#money.covers(amount);
  }

  /**
   * Leases money for a reservation that the lease does not cover, or finds out that it is not free. Another call can
   * use it first. Rejects as the store does.
   */
  async lease(amount: Money): Promise<void> {
    await this.#money.want(amount, () => this.readBalance());
  }

  /** A demand for a lease that is under way, for a call of a caller; null if there is none. */
  pendingLease(caller: LimitedCaller): Promise<unknown> | null {
    return this.#reading?.promise ?? this.limiter.leases.pending(caller);
  }

  /** Runs work for a call when that of all calls before it has ended. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T> = inTurn();

  /**
   * Renews the lease if it is in use, and returns what is not. Called every few seconds.
   *
   * @param isLast Whether no call follows, at the end of the process.
   */
  async renewLease(isLast = false): Promise<void> {
    if (this.#money.startRenewal(isLast)) await this.readBalance();
  }

  /**
   * Leases shares of limits for a call that they do not cover, or refuses it. Rejects as the store does.
   *
   * @throws {GatewayError} `rate_limited` if a limit of rate, tokens or concurrency is reached. A budget that has too
   * little left is read, so that it refuses the call afterwards.
   */
  async leaseShares(caller: LimitedCaller, demand: SharedDemand): Promise<void> {
    await this.limiter.leases.lease(caller, demand);
    for (const missing of this.limiter.leases.missingBudgets(caller, demand.amount)) await this.#budgets.lease(missing);
  }

  /** Renews the shares of limits that are in use, and returns those that are not, as {@linkcode renewLease}. */
  async renewShares(isLast = false): Promise<void> {
    if ((this.options.shareLeases ?? null) === null) return;
    const { renewed, budgets } = this.limiter.leases.renew(isLast);
    await Promise.all([renewed, ...budgets.map((budget) => this.#budgets.lease(budget))]);
  }

  /** Whether other processes lease of what refused a call. */
  isHeldElsewhere(caller: LimitedCaller, { details: { quota } }: GatewayError): boolean {
    return quota === undefined ? this.#money.others > 0n : this.limiter.leases.isHeldElsewhere(caller, quota);
  }

  /** Requires that what refused a call is read again. */
  forgetRefusals(caller: LimitedCaller, { code }: GatewayError): void {
    // Calls that are tried again together share a read, which another invalidation would void.
    if (code === "insufficient_credits" && this.balanceAgeMs !== Infinity) this.invalidate();
    this.limiter.leases.forgetShort(caller);
  }

  /** Returns what is leased of the money, the limits of the account and those of one key, and is not in use. */
  async giveBack(keyId: string): Promise<void> {
    const { shares, budgets } = this.limiter.leases.unused(keyId);
    await Promise.allSettled([
      this.#returnMoney(),
      ...shares.map((share) => share.giveBack()),
      ...budgets.map((budget) => this.#budgets.lease(budget)),
    ]);
  }

  async #returnMoney(): Promise<void> {
    await this.renewLease(true);
    if (this.#money.isRenewalDue) await this.readBalance(); // another read was under way
  }

  /** The age of the balance; infinite if it must be read again. */
  get balanceAgeMs(): number {
    const age = this.options.clock.now() - this.#readAt;
    return age >= 0 ? age : Infinity;
  }

  /** The age of the oldest charge that is not in the ledger, in milliseconds; 0 if there is none. */
  get ledgerLagMs(): number {
    return this.#charges.lagMs;
  }

  /** Whether the meter can be evicted without loss. */
  get isIdle(): boolean {
    return this.userCount === 0 && this.#charges.isIdle && this.limiter.isIdle && this.#money.isIdle;
  }

  /** Opens a call and reserves its money in memory, until {@linkcode OpenCalls.close}. */
  open(call: OpenCall): void {
    this.calls.open(call);
    this.#money.noteUse();
  }

  /**
   * What is free of the money and the limits of a caller; null if that is not known now, or if other processes have
   * them too.
   */
  lendable(caller: LimitedCaller): LeaseUnits | null {
    const { shareLeases = null } = this.options;
    if (shareLeases !== null && caller.limits !== null) return null;
    if (this.credit <= 0n || !this.limiter.budgets.isLoaded(caller)) return null;
    const budget = this.limiter.budgets.left(caller);
    const money = budget !== null && budget.left < this.spendable ? budget.left : this.spendable;
    return { money, ...this.limiter.lent.free(caller) };
  }

  /** Lends units to a thread; see {@linkcode OpenCalls.lend}. */
  lend(lease: CallLease, units: LeaseUnits): void {
    if (this.calls.lend(lease, units)) this.userCount++;
    this.#money.noteUse();
  }

  /** Ends a lease, with everything that it still has. */
  endLease(lease: CallLease): void {
    if (this.calls.endLease(lease)) this.userCount--;
  }

  /** Writes charges to the ledger that another thread journaled; see {@linkcode ChargeQueue.addGroup}. */
  chargeGroup(group: ChargeGroup): Promise<void> {
    const written = this.#charges.addGroup(group);
    this.#endIfOverdrawn();
    return written;
  }

  /** Sets a listener for an account that is overdrawn too far. It may be called at once. */
  onOverdrawn(call: OpenCall, onOverdrawn: () => void): void {
    call.onOverdrawn = onOverdrawn;
    this.#endIfOverdrawn();
  }

  /** Forces the next call to read the balance and what its budgets have spent, because others changed it. */
  invalidate(): void {
    this.#generation++;
    this.#readAt = -Infinity;
    this.limiter.budgets.invalidate();
  }

  /**
   * Reads the balance after the commit in progress. Callers that wait for the same read share it. Rejects as the store
   * does.
   */
  readBalance(): Promise<void> {
    if (this.#reading) return this.#reading.promise;
    const reading = this.#reading = Promise.withResolvers<void>();
    this.#charges.runBetween(() => this.#read(reading));
    return reading.promise;
  }

  /** Reads what budgets have spent that calls wait for; see {@linkcode BudgetReads.load}. */
  loadBudgets(): Promise<void> {
    return this.#budgets.load();
  }

  /** Charges a call; see {@linkcode ChargeQueue.add}. */
  charge(row: ChargeRow): MaybePromise<void> {
    const charged = this.#charges.add(row);
    this.#endIfOverdrawn();
    return charged;
  }

  /** Writes all charges to the ledger; see {@linkcode ChargeQueue.settle}. */
  settle(): MaybePromise<void> {
    return this.#charges.settle();
  }

  /** Writes all charges to the ledger, for the end of the process; see {@linkcode ChargeQueue.flush}. */
  flush(): Promise<void> {
    return this.#charges.flush();
  }

  async #read(reading: PromiseWithResolvers<void>): Promise<void> {
    const startedAt = this.options.clock.now();
    const generation = this.#generation;
    try {
      await this.#money.read();
      // A balance that was read while others changed it may be outdated.
      this.#readAt = generation === this.#generation ? startedAt : -Infinity;
      this.#reading = null;
      reading.resolve();
      this.#endIfOverdrawn();
    } catch (failure) {
      this.#reading = null;
      reading.reject(failure);
    }
  }

  /** See {@linkcode OpenCalls.endIfOverdrawn}. */
  #endIfOverdrawn(): void {
    this.calls.endIfOverdrawn(this.#ownCredit);
  }
}
