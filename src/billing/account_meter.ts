import { type Clock, sleep } from "../lib/clock.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import { newSortableId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import { type Money, writeMoney } from "../lib/money.ts";
import type { CommitResult, Store } from "../store/store.ts";
import { storageUnavailable } from "../store/write_health.ts";
import { addCharge, type ChargeRow, countFittingRows, totalOf } from "./charge.ts";

/** The dependencies and settings of an account meter. */
export interface AccountMeterOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a charge waits for other charges to share its commit. */
  readonly groupDelayMs: number;
}

/** A call with a reservation. */
export interface OpenCall {
  /** The highest expected cost. */
  readonly amount: Money;
  /** Called once when the account is overdrawn too far; null if the call cannot be ended. */
  onOverdrawn: (() => void) | null;
}

interface Waiting {
  readonly row: ChargeRow;
  readonly durable: PromiseWithResolvers<void>;
}

/** Charges that the store refused for now. They are written later with the same reference. */
interface Delayed {
  readonly reference: string;
  readonly rows: readonly ChargeRow[];
}

const RETRY_DELAYS_MS: readonly number[] = [50, 200, 800];
const MIN_DELAY_MS = 2_000;
const MAX_DELAY_MS = 30_000;
/** Per account; further rows are lost. No new call is admitted meanwhile, so they belong to calls in progress. */
const MAX_DELAYED_ROWS = 10_000;

/**
 * One account's balance as this process knows it, and the queue of its store operations. Reads of the balance and
 * charges run one after another. The balance read from the store, less the waiting charges, is therefore exact but for
 * changes by others: holds, credits, other processes.
 *
 *     charge(row) → waiting → (all waiting rows that fit, as one group) → one commit → durable
 *
 * A group that cannot be written after several attempts is kept in memory and retried after 2, 4 … 30 s, until it is
 * written or the process ends. Its callers have received an error by then, and it still counts against the balance.
 *
 * Charges during a commit form the next group, so a busy account makes one commit at a time.
 */
export class AccountMeter {
  /** Calls that may still reserve or charge. While there are any, the meter must not be evicted. */
  userCount = 0;
  #available: Money = 0n;
  #pendingAmount: Money = 0n;
  #reserved: Money = 0n;
  readonly #open = new Set<OpenCall>();
  #readAt = -Infinity;
  #generation = 0;
  #reading: PromiseWithResolvers<void> | null = null;
  #waiting: Waiting[] = [];
  #running: Promise<void> | null = null;
  #skipDelay: (() => void) | null = null;
  #isFlushing = false;
  #delayed: Delayed[] = [];
  #isRetryDue = false;
  #stopRetry: (() => void) | null = null;
  #delayMs = MIN_DELAY_MS;

  constructor(readonly account: string, private readonly options: AccountMeterOptions) {}

  /** The amount that new calls can reserve: the balance less all reservations. */
  get spendable(): Money {
    return this.balance - this.#reserved;
  }

  /** The last known available balance less the charges that are not durable yet. */
  get balance(): Money {
    return this.#available - this.#pendingAmount;
  }

  /** The age of the balance; infinite if it must be read again. */
  get balanceAgeMs(): number {
    const age = this.options.clock.now() - this.#readAt;
    return age >= 0 ? age : Infinity;
  }

  /** Whether the meter can be evicted without loss. */
  get isIdle(): boolean {
    return this.userCount === 0 && this.#running === null && this.#delayed.length === 0;
  }

  /** Reserves money for a call in memory, until {@linkcode AccountMeter.releaseReservation}. */
  reserve(call: OpenCall): void {
    this.#open.add(call);
    this.#reserved += call.amount;
  }

  /** Ends a reservation. */
  releaseReservation(call: OpenCall): void {
    if (this.#open.delete(call)) this.#reserved -= call.amount;
  }

  /** Sets a listener for an account that is overdrawn too far. It may be called at once. */
  onOverdrawn(call: OpenCall, onOverdrawn: () => void): void {
    call.onOverdrawn = onOverdrawn;
    this.#endIfOverdrawn();
  }

  /** Forces the next call to read the balance, because others changed it. */
  invalidate(): void {
    this.#generation++;
    this.#readAt = -Infinity;
  }

  /**
   * Reads the balance after the commit in progress. Callers that wait for the same read share it. Rejects as the store
   * does.
   */
  readBalance(): Promise<void> {
    const reading = this.#reading ??= Promise.withResolvers<void>();
    this.#start();
    return reading.promise;
  }

  /**
   * Resolves once the charge is durable. Rejects with `storage_unavailable` if the store cannot write it now: it is
   * written later. Rejects with `internal_error` if the store refuses it for good; it is logged as `charge_lost`.
   */
  charge(row: ChargeRow): Promise<void> {
    const durable = Promise.withResolvers<void>();
    this.#pendingAmount += row.amount;
    this.#waiting.push({ row, durable });
    this.#start();
    this.#endIfOverdrawn();
    return durable.promise;
  }

  /**
   * Writes waiting charges without delay and retries delayed ones once. Charges that still fail are lost and logged.
   */
  async flush(): Promise<void> {
    this.#isFlushing = true;
    this.#skipDelay?.();
    await this.#running;
    if (this.#delayed.length > 0) {
      this.#isRetryDue = true;
      this.#start();
      await this.#running;
      this.#stopRetry?.();
      for (const { rows } of this.#delayed.splice(0)) this.#logLost(rows, "the process ends");
    }
    this.#isFlushing = false;
  }

  #start(): void {
    this.#running ??= this.#runQueue();
  }

  /** Never rejects; each failure is passed to the callers that wait for it. */
  async #runQueue(): Promise<void> {
    while (this.#reading || this.#waiting.length > 0 || this.#isRetryDue) {
      if (this.#isRetryDue) {
        await this.#retryDelayed();
      } else if (this.#reading) {
        await this.#readBalance(this.#reading);
      } else {
        // Even without a delay, charges of the same turn of the event loop join the group.
        await this.#delayGroup();
        const rows = this.#waiting.map(({ row }) => row);
        await this.#commitGroup(this.#waiting.splice(0, countFittingRows(rows, this.options.store.limits)));
      }
    }
    this.#running = null;
  }

  async #readBalance(reading: PromiseWithResolvers<void>): Promise<void> {
    const startedAt = this.options.clock.now();
    const generation = this.#generation;
    try {
      const { available } = await this.options.store.balance(this.account);
      this.#available = available;
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

  /**
   * Ends the open calls that can be ended once the balance is below minus the largest reservation. That happens only
   * when vendors exceed the limits that they were sent, or when others take money from the account.
   */
  #endIfOverdrawn(): void {
    if (this.balance >= 0n || this.#open.size === 0) return;
    let largest = 0n;
    for (const { amount } of this.#open) if (amount > largest) largest = amount;
    if (this.balance >= -largest) return;
    // An ended call may charge at once, which calls this method again. So the set is copied, and each listener is
    // called once.
    for (const call of [...this.#open]) {
      const { onOverdrawn } = call;
      call.onOverdrawn = null;
      onOverdrawn?.();
    }
  }

  #delayGroup(): Promise<void> | void {
    const { groupDelayMs, clock } = this.options;
    if (groupDelayMs === 0 || this.#isFlushing) return;
    return new Promise((resolve) => {
      const stop = clock.after(groupDelayMs, resolve);
      this.#skipDelay = () => {
        stop();
        resolve();
      };
    });
  }

  async #commitGroup(group: readonly Waiting[]): Promise<void> {
    const rows = group.map(({ row }) => row);
    const charge = { reference: `charge_${newSortableId(this.options.clock.now())}`, rows };
    const failure = await this.#commitWithRetries(charge);
    const error = failure === null ? null : this.#keepOrGiveUp(charge, failure);
    for (const { durable } of group) {
      if (error === null) durable.resolve();
      else durable.reject(error);
    }
  }

  /** Returns null once the rows are durable, otherwise the failure after several attempts. */
  async #commitWithRetries(charge: Delayed): Promise<CommitFailure | null> {
    const { clock, log } = this.options;
    const { reference } = charge;
    for (let attempt = 0;; attempt++) {
      const failure = await this.#commitOnce(charge);
      const delayMs = RETRY_DELAYS_MS[attempt];
      if (failure === null || delayMs === undefined) return failure;
      log.warn("charge_retried", { accountId: this.account, ref: reference, attempt, reason: String(failure.reason) });
      await sleep(clock, delayMs);
    }
  }

  /** A repeat after a failed attempt that was in fact durable is harmless: its ledger entry exists. */
  async #commitOnce({ reference, rows }: Delayed): Promise<CommitFailure | null> {
    const commit = addCharge({}, { account: this.account, reference, rows });
    const failure = await this.options.store.commit(null, commit)
      .then(failureOf, (thrown) => ({ reason: thrown ?? "no reason given", isFinal: false }));
    if (failure !== null) return failure;
    const total = totalOf(rows);
    this.#pendingAmount -= total;
    this.#available -= total;
    return null;
  }

  /** Keeps a failed charge for later, or gives it up. Returns the error for its callers. */
  #keepOrGiveUp(charge: Delayed, { reason, isFinal }: CommitFailure): GatewayError {
    const { rows, reference } = charge;
    const kept = this.#delayed.reduce((sum, delayed) => sum + delayed.rows.length, 0);
    if (isFinal || kept + rows.length > MAX_DELAYED_ROWS) {
      this.#giveUp(charge, reason);
      return new GatewayError("internal_error", "Cannot record the charge", { cause: reason });
    }
    this.#delayed.push(charge);
    const cost = writeMoney(totalOf(rows));
    const facts = { accountId: this.account, ref: reference, count: rows.length, cost, reason: String(reason) };
    this.options.log.error("charge_delayed", facts);
    this.#retryLater();
    return storageUnavailable(reason);
  }

  #retryLater(): void {
    this.#stopRetry ??= this.options.clock.after(this.#delayMs, () => {
      this.#stopRetry = null;
      this.#isRetryDue = true;
      this.#start();
    });
  }

  async #retryDelayed(): Promise<void> {
    this.#isRetryDue = false;
    for (let charge = this.#delayed[0]; charge !== undefined; charge = this.#delayed[0]) {
      const failure = await this.#commitOnce(charge);
      if (failure !== null && !failure.isFinal) {
        this.#delayMs = Math.min(this.#delayMs * 2, MAX_DELAY_MS);
        return this.#retryLater();
      }
      this.#delayed.shift();
      if (failure !== null) this.#giveUp(charge, failure.reason);
      else this.options.log.info("charge_recorded", { accountId: this.account, ref: charge.reference });
    }
    this.#delayMs = MIN_DELAY_MS;
  }

  #giveUp({ rows }: Delayed, reason: unknown): void {
    this.#pendingAmount -= totalOf(rows);
    this.#logLost(rows, reason);
  }

  #logLost(rows: readonly ChargeRow[], failure: unknown): void {
    for (const { requestId, model, provider, amount } of rows) {
      const cost = writeMoney(amount);
      this.options.log.error("charge_lost", {
        accountId: this.account,
        requestId,
        model,
        provider,
        cost,
        reason: String(failure),
      });
    }
  }
}

/** Why a charge was not written. */
interface CommitFailure {
  readonly reason: unknown;
  /** Whether a retry cannot succeed. */
  readonly isFinal: boolean;
}

/** An existing ledger entry with this reference is this very charge, as references are unique. */
function failureOf(result: CommitResult): CommitFailure | null {
  return result.ok || result.why === "duplicate" ? null : { reason: `refused as ${result.why}`, isFinal: true };
}
