import type { Money } from "../lib/money.ts";
import { AccountLimiter } from "../limits/account_limiter.ts";
import type { LimitedCall } from "../limits/limited_caller.ts";
import type { SpentReader } from "../limits/spent_reader.ts";
import { storageUnavailable } from "../store/write_health.ts";
import type { ChargeRow } from "./charge.ts";
import { ChargeQueue, type ChargeQueueOptions } from "./charge_queue.ts";

/** The dependencies of an account meter. */
export interface AccountMeterOptions extends Omit<ChargeQueueOptions, "onWritten"> {
  /** Reads what was spent of a budget. */
  readonly readSpent: SpentReader;
  /** Returns the open calls that the account can have. Default: no limit. */
  readonly accountConcurrency?: () => number;
}

/** A call with a reservation. */
export interface OpenCall extends LimitedCall {
  /** Called once when the account is overdrawn too far; null if the call cannot be ended. */
  onOverdrawn: (() => void) | null;
}

/**
 * One account's balance as this process knows it. Reads of the balance and commits of charges run one after another.
 * The balance read from the store, less the charges that are not in the ledger yet, is therefore exact but for changes
 * by others: holds, credits, other processes.
 */
export class AccountMeter {
  /** Calls that may still reserve or charge. While there are any, the meter must not be evicted. */
  userCount = 0;
  readonly #charges: ChargeQueue;
  #available: Money = 0n;
  #overdraft: Money = 0n;
  #reserved: Money = 0n;
  readonly #open = new Set<OpenCall>();
  #readAt = -Infinity;
  #generation = 0;
  #reading: PromiseWithResolvers<void> | null = null;
  #loading: Promise<void> | null = null;
  /** The limits of the account and its keys. */
  readonly limiter: AccountLimiter;

  constructor(readonly account: string, private readonly options: AccountMeterOptions) {
    this.limiter = new AccountLimiter({ ...options, openCalls: this.#open });
    this.#charges = new ChargeQueue(account, { ...options, onWritten: (amount) => this.#available -= amount });
  }

  /** The number of calls that may still charge. */
  get openCalls(): number {
    return this.#open.size;
  }

  /** What open calls have reserved. */
  get reserved(): Money {
    return this.#reserved;
  }

  /** The amount that new calls can reserve: the credit less all reservations. */
  get spendable(): Money {
    return this.credit - this.#reserved;
  }

  /** The last known available balance less the charges that are not in the ledger yet, plus the account's overdraft. */
  get credit(): Money {
    return this.#available - this.#charges.pending + this.#overdraft;
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
    return this.userCount === 0 && this.#charges.isIdle && this.limiter.isIdle;
  }

  /** Opens a call and reserves its money in memory, until {@linkcode AccountMeter.close}. */
  open(call: OpenCall): void {
    this.limiter.onOpened(call);
    this.#open.add(call);
    this.#reserved += call.amount;
  }

  /** Ends a call and its reservation, with what it is charged and the tokens that it used. */
  close(call: OpenCall, charged: Money, tokens: number): void {
    if (!this.#open.delete(call)) return;
    this.#reserved -= call.amount;
    this.limiter.onClosed(call, charged, tokens);
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
    this.limiter.invalidateBudgets();
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
   * Reads what the unloaded budgets have spent, after the commit in progress. Callers that wait for the same read share
   * it. A budget may need another read afterwards, because others wrote to the ledger.
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
  charge(row: ChargeRow): void | Promise<void> {
    const charged = this.#charges.add(row);
    this.#endIfOverdrawn();
    return charged;
  }

  /** Writes all charges to the ledger; see {@linkcode ChargeQueue.settle}. */
  settle(): void | Promise<void> {
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
      const { available, overdraft = 0n } = await this.options.store.balance(this.account);
      this.#available = available;
      this.#overdraft = overdraft;
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

  /** No charge is written during the read, so each is either in the ledger or among those of the queue. */
  async #load(): Promise<void> {
    const generation = this.#generation;
    for (const { keyId, state } of this.limiter.unloaded()) {
      const { since } = state;
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
    const { credit } = this;
    if (credit >= 0n || this.#open.size === 0) return;
    let largest = 0n;
    for (const { amount } of this.#open) if (amount > largest) largest = amount;
    if (credit >= -largest) return;
    // An ended call may charge at once, which calls this method again. So the set is copied, and each listener is
    // called once.
    for (const call of [...this.#open]) {
      const { onOverdrawn } = call;
      call.onOverdrawn = null;
      onOverdrawn?.();
    }
  }
}
