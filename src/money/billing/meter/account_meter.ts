import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { NO_SLOT, type SlotMember, SlotSet } from "../../../platform/lib/collections/slot_set.ts";
import { AccountLimiter } from "../../limits/account_limiter.ts";
import type { MissingBudget, SharedDemand } from "../../limits/limit_leases.ts";
import type { LimitedCall, LimitedCaller } from "../../limits/limited_caller.ts";
import type { LimitShare } from "../../limits/limit_share.ts";
import { SharedBudget } from "../../limits/shared_limits.ts";
import type { SpentReader } from "../../limits/spent_reader.ts";
import type { MoneyLeases, SharedBalance } from "../../../platform/store/money_leases.ts";
import type { ShareLeases } from "../../../platform/store/share_leases.ts";
import { storageUnavailable } from "../../../platform/store/write_health.ts";
import type { CallLease, LeaseUnits, LeaseUse } from "./call_lease.ts";
import type { ChargeRow } from "../ledger/charge.ts";
import type { ChargeGroup } from "../ledger/charge_group.ts";
import { ChargeQueue, type ChargeQueueOptions } from "../ledger/charge_queue.ts";
import { inTurn } from "../../../platform/lib/collections/in_turn.ts";

/** The dependencies of an account meter. */
export interface AccountMeterOptions extends Omit<ChargeQueueOptions, "onWritten"> {
  /** Reads what was spent of a budget. */
  readonly readSpent: SpentReader;
  /** Returns the open calls that the account can have. Default: no limit. */
  readonly accountConcurrency?: () => number;
  /** Leases of the money, if other processes spend it too. Default: none do. */
  readonly leases?: MoneyLeases | null;
  /** Leases of the limits, if other processes have them too. Default: none do. */
  readonly shareLeases?: ShareLeases | null;
  /** The processes that have the limits, with this one. Default: not known, so that small limits return late. */
  readonly gateways?: () => number;
}

/** A lease is not used in the last part of its duration, while its statement may have been under way. */
const LEASE_MARGIN_MS = 2_000;
/** How often a budget is read when other processes return leases of it meanwhile. */
const MAX_BUDGET_ATTEMPTS = 8;

/** A call with a reservation. */
export interface OpenCall extends LimitedCall, SlotMember {
  /** Called once when the account is overdrawn too far; null if the call cannot be ended. */
  onOverdrawn: (() => void) | null;
}

/**
 * One account's balance as this process knows it. Reads of the balance and commits of charges run one after another.
 * The balance read from the store, less the charges that are not in the ledger yet, is therefore exact but for changes
 * by others: holds, credits, other processes.
 *
 * If other processes spend the balance too, this one leases a part of it from the store. What it has reserved, and has
 * charged without the ledger, stays within the lease.
 *
 *     no lease ─ a call does not fit → leased, with a spare part → calls fit, half the time passed → leased again
 *         ▲                                                        │ no call since the last look
 *         └────────────── no open call or charge ──────────────────┘
 */
export class AccountMeter {
  /** Calls that may still reserve or charge. While there are any, the meter must not be evicted. */
  userCount = 0;
  readonly #charges: ChargeQueue;
  #available: Money = 0n;
  #overdraft: Money = 0n;
  #reserved: Money = 0n;
  readonly #open = new SlotSet<OpenCall>();
  /** What threads have for calls that they admit by themselves. */
  readonly #lent = new SlotSet<CallLease>();
  #lentCalls = 0;
  #readAt = -Infinity;
  #generation = 0;
  #reading: PromiseWithResolvers<void> | null = null;
  #loading: Promise<void> | null = null;
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
  /** Leases of budgets that are not begun. */
  readonly #budgetLeases = new Map<LimitShare, { units: Money; readonly leased: PromiseWithResolvers<void> }>();
  /** The limits of the account and its keys. */
  readonly limiter: AccountLimiter;

  constructor(readonly account: string, private readonly options: AccountMeterOptions) {
    const { shareLeases = null, clock, gateways = () => 1 } = options;
    const shares = shareLeases === null ? null : { clock, leases: shareLeases, account, gateways };
    this.limiter = new AccountLimiter({
      ...options,
      now: () => options.store.now(),
      openCalls: this.#allCalls(),
      shares,
    });
    const onWritten = (amount: Money) => {
      this.#available -= amount;
      // In the store the lease is smaller only when it is replaced. Until then it hides the amount from others.
      this.#leased -= amount;
    };
    this.#charges = new ChargeQueue(account, { ...options, onWritten });
  }

  /** The number of calls that may still charge, with those that threads have leased. */
  get openCalls(): number {
    return this.#open.size + this.#lentCalls;
  }

  #allCalls(): Iterable<LimitedCall> & { readonly size: number } {
    const [open, lent] = [this.#open, this.#lent];
    const size = () => this.openCalls;
    return {
      get size() {
        return size();
      },
      *[Symbol.iterator]() {
        yield* open;
        yield* lent;
      },
    };
  }

  /** What open calls have reserved. */
  get reserved(): Money {
    return this.#reserved;
  }

  /** The amount that new calls can reserve: the credit less all reservations. */
  get spendable(): Money {
    return this.credit - this.#reserved;
  }

  /**
   * The last known available balance less the charges that are not in the ledger yet and what other processes lease,
   * plus the account's overdraft.
   */
  get credit(): Money {
    return this.#ownCredit - this.#others;
  }

  get #ownCredit(): Money {
    return this.#available - this.#charges.pending + this.#overdraft;
  }

  /** Whether a reservation is within the lease of this process. Always if no other one spends the balance. */
  covers(amount: Money): boolean {
    const { leases = null, clock } = this.options;
    if (leases === null || amount === 0n) return true;
    return clock.monotonicMs() < this.#leasedUntil &&
      this.#reserved + this.#charges.pending + amount <= this.#leased;
  }

  /**
   * Leases money for a reservation that the lease does not cover, or finds out that it is not free. Another call can
   * use it first. Rejects as the store does.
   */
  async lease(amount: Money): Promise<void> {
    this.#wanted += amount;
    try {
      await this.readBalance();
    } finally {
      this.#wanted -= amount;
    }
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
    const { leases = null, clock } = this.options;
    if (leases === null || this.#leasedUntil === -Infinity) return;
    const isHalfOver = clock.monotonicMs() > this.#leasedUntil + LEASE_MARGIN_MS - leases.durationMs / 2;
    if (this.#isUsed && !isLast && !isHalfOver) return void (this.#isUsed = false);
    const kept = this.#reserved + this.#charges.pending;
    if (!isLast && !isHalfOver && kept > 0n && kept === this.#leased) return;
    if (isLast) this.#isUsed = false;
    this.#isRenewalDue = true;
    await this.readBalance();
  }

  /**
   * Leases shares of limits for a call that they do not cover, or refuses it. Rejects as the store does.
   *
   * @throws {GatewayError} `rate_limited` if a limit of rate, tokens or concurrency is reached. A budget that has too
   * little left is read, so that it refuses the call afterwards.
   */
  async leaseShares(caller: LimitedCaller, demand: SharedDemand): Promise<void> {
    await this.limiter.leases.lease(caller, demand);
    for (const missing of this.limiter.leases.missingBudgets(caller, demand.amount)) await this.#leaseBudget(missing);
  }

  /** Renews the shares of limits that are in use, and returns those that are not, as {@linkcode renewLease}. */
  async renewShares(isLast = false): Promise<void> {
    if ((this.options.shareLeases ?? null) === null) return;
    const { renewed, budgets } = this.limiter.leases.renew(isLast);
    await Promise.all([renewed, ...budgets.map((budget) => this.#leaseBudget(budget))]);
  }

  /** Whether other processes lease of what refused a call. */
  isHeldElsewhere(caller: LimitedCaller, { details: { quota } }: GatewayError): boolean {
    return quota === undefined ? this.#others > 0n : this.limiter.leases.isHeldElsewhere(caller, quota);
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
      ...budgets.map((budget) => this.#leaseBudget(budget)),
    ]);
  }

  async #returnMoney(): Promise<void> {
    await this.renewLease(true);
    if (this.#isRenewalDue) await this.readBalance(); // another read was under way
  }

  /** Calls that wait for the same budget share a statement. */
  #leaseBudget(budget: MissingBudget): Promise<void> {
    const { share } = budget.state;
    const waiting = this.#budgetLeases.get(share);
    if (waiting !== undefined) {
      waiting.units += budget.units;
      return waiting.leased.promise;
    }
    const next = { units: budget.units, leased: Promise.withResolvers<void>() };
    this.#budgetLeases.set(share, next);
    this.#charges.runBetween(() => {
      this.#budgetLeases.delete(share);
      return this.#leaseLoaded({ ...budget, units: next.units }).then(next.leased.resolve, next.leased.reject);
    });
    return next.leased.promise;
  }

  /**
   * No charge of this process is written meanwhile. The leases are read before what was spent: what others charge in
   * between is in both or changes the version, so that the lease is refused and all is read again.
   */
  async #leaseLoaded({ keyId, state, limit, units }: MissingBudget): Promise<void> {
    const { shareLeases = null, readSpent } = this.options;
    const { since, share } = state;
    const generation = this.#generation;
    for (let attempt = 0; shareLeases !== null && attempt < MAX_BUDGET_ATTEMPTS; attempt++) {
      const reading = await shareLeases.read(share.name);
      const spent = await readSpent(this.account, keyId, since);
      if (generation !== this.#generation || share !== state.share) return;
      const unwritten = this.#charges.unwrittenSince(since, keyId);
      state.load(spent, unwritten);
      state.others = reading.others;
      share.setUsed(unwritten);
      const left = limit - spent.charged - spent.held;
      const answer = await share.lease(units, left > 0n ? left : 0n, reading);
      if (answer !== null) return void (state.others = answer.others);
    }
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
    return this.userCount === 0 && this.#charges.isIdle && this.limiter.isIdle && this.#leasedUntil === -Infinity;
  }

  /** Opens a call and reserves its money in memory, until {@linkcode AccountMeter.close}. */
  open(call: OpenCall): void {
    this.limiter.onOpened(call);
    this.#open.add(call);
    this.#reserved += call.amount;
    this.#isUsed = true;
  }

  /** Ends a call and its reservation, with what it is charged and the tokens that it used. */
  close(call: OpenCall, charged: Money, tokens: number): void {
    if (!this.#open.delete(call)) return;
    this.#reserved -= call.amount;
    this.limiter.onClosed(call, charged, tokens);
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

  /** Lends units. Those of a limit that the caller does not have are infinite, and are not counted. */
  lend(lease: CallLease, { money, calls, requests, tokens }: LeaseUnits): void {
    if (lease.slot === NO_SLOT) {
      this.#lent.add(lease);
      this.userCount++;
    }
    this.limiter.onOpened({ keyId: lease.keyId, amount: money }, calls);
    lease.amount += money;
    lease.calls += calls;
    this.#reserved += money;
    this.#lentCalls += calls;
    this.#isUsed = true;
    const { buckets } = lease;
    if (buckets.requests.length > 0) lease.requests += requests;
    if (buckets.tokens.length > 0) lease.tokens += tokens;
    this.limiter.lent.reserve(buckets, { requests, tokens });
  }

  /** Takes back units that a thread used, or does not need. */
  takeBack(lease: CallLease, { money, calls, requests, tokens, charged, ...used }: LeaseUse): void {
    lease.amount -= money;
    lease.calls -= calls;
    lease.largest = used.largest;
    this.#reserved -= money;
    this.#lentCalls -= calls;
    this.limiter.onGivenBack({ keyId: lease.keyId, amount: money }, { charged, calls });
    const { buckets } = lease;
    if (buckets.requests.length > 0) lease.requests -= requests;
    if (buckets.tokens.length > 0) lease.tokens -= tokens;
    this.limiter.lent.settle(buckets, { requests, tokens }, { requests: used.usedRequests, tokens: used.usedTokens });
  }

  /** Ends a lease, with everything that it still has. */
  endLease(lease: CallLease): void {
    if (!this.#lent.delete(lease)) return;
    const { amount: money, calls, requests, tokens } = lease;
    this.takeBack(lease, { money, calls, requests, tokens, charged: 0n, usedRequests: 0, usedTokens: 0, largest: 0n });
    this.userCount--;
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

  /**
   * Reads what the budgets have spent that calls wait for, after the commit in progress. Callers that wait for the same
   * read share it. A budget may need another read afterwards, because others wrote to the ledger.
   *
   * @throws {GatewayError} `storage_unavailable` if the store cannot be read.
   */
  loadBudgets(): Promise<void> {
    return this.#loading ??= new Promise<void>((resolve, reject) => {
      this.#charges.runBetween(() =>
        this.#load().finally(() => this.#loading = null).then(resolve, (failure) => reject(storageUnavailable(failure)))
      );
    });
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
      await this.#readMoney();
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

  async #readMoney(): Promise<void> {
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
    const kept = this.#reserved + this.#charges.pending;
    const demand = { kept, wanted: this.#wanted, hasSpare: this.#wanted > 0n || this.#isUsed };
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

  /** No charge is written during the read, so each is either in the ledger or among those of the queue. */
  async #load(): Promise<void> {
    const { shareLeases = null } = this.options;
    for (const { keyId, state } of this.limiter.budgets.wanted()) {
      const { since } = state;
      // What others changed before this read is in it.
      const generation = this.#generation;
      if (state instanceof SharedBudget && shareLeases !== null) {
        state.others = (await shareLeases.read(state.share.name)).others;
      }
      const spent = await this.options.readSpent(this.account, keyId, since);
      const isCurrent = generation === this.#generation && since === state.since;
      if (isCurrent) state.load(spent, this.#charges.unwrittenSince(since, keyId));
    }
  }

  /**
   * Ends the open calls that can be ended once the credit is below minus the largest reservation. That happens only
   * when vendors exceed the limits that they were sent, or when others take money from the account.
   */
  #endIfOverdrawn(): void {
    const credit = this.#ownCredit;
    if (this.#lent.size > 0 && (credit <= 0n || credit < this.#reserved)) {
      for (const { onShort } of this.#lent) onShort?.();
    }
    if (credit >= 0n || this.openCalls === 0) return;
    let largest = 0n;
    for (const { amount } of this.#open) if (amount > largest) largest = amount;
    for (const { largest: amount } of this.#lent) if (amount > largest) largest = amount;
    if (credit >= -largest) return;
    // An ended call may charge at once, which calls this method again. So the set is copied, and each listener is
    // called once.
    for (const call of [...this.#open, ...this.#lent]) {
      const { onOverdrawn } = call;
      call.onOverdrawn = null;
      onOverdrawn?.();
    }
  }
}
