import { type Clock, sleep } from "../lib/clock.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import { newSortableId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import { type Money, writeMoney } from "../lib/money.ts";
import type { CommitResult, Store } from "../store/store.ts";
import { storageUnavailable } from "../store/write_health.ts";
import { addCharge, type ChargeRow, countFittingRows, totalOf } from "./charge.ts";

/** What a purse works with. */
export interface AccountMeterOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a charge waits for others to join it. */
  readonly groupDelayMs: number;
}

/** A call for which money is reserved. */
export interface OpenCall {
  /** The most that it is expected to cost. */
  readonly amount: Money;
  /** Called once when the account is overdrawn too far; null when nothing can be ended. */
  onOverdrawn: (() => void) | null;
}

interface Waiting {
  readonly row: ChargeRow;
  readonly durable: PromiseWithResolvers<void>;
}

/** Charges that the store did not take, to be written under the same reference again. */
interface Delayed {
  readonly reference: string;
  readonly rows: readonly ChargeRow[];
}

const RETRY_DELAYS_MS: readonly number[] = [50, 200, 800];
const MIN_DELAY_MS = 2_000;
const MAX_DELAY_MS = 30_000;
/** Per account; later ones are lost. No call is admitted meanwhile, so these are calls that were under way. */
const MAX_DELAYED_ROWS = 10_000;

/**
 * One account's money as this process sees it, and the one lane on which its reads of the balance and its charges
 * reach the store, one after another. As no charge is under way while the balance is read, what was read less what
 * still waits is exact but for others' movements: holds, credits, other processes.
 *
 *   charge(row) → waiting → (all that wait and fit, as one group) → one commit → durable
 *
 * A group that the store does not take in several tries is kept in memory and tried again after 2, 4 … 30 s, until it
 * is written or the process ends. Its callers have got an error by then, and it still counts against the balance.
 *
 * Charges that come while a commit is under way form the next group, so that a busy account costs one commit at a
 * time however many requests it makes.
 */
export class AccountMeter {
  /** Calls that may still reserve or charge; while there are any, the purse must not be dropped. */
  userCount = 0;
  #available: Money = 0n;
  #undurable: Money = 0n;
  #reserved: Money = 0n;
  readonly #open = new Set<OpenCall>();
  #readAt = -Infinity;
  #generation = 0;
  #reading: PromiseWithResolvers<void> | null = null;
  #waiting: Waiting[] = [];
  #lane: Promise<void> | null = null;
  #stopLingering: (() => void) | null = null;
  #hurried = false;
  #delayed: Delayed[] = [];
  #isRetryDue = false;
  #stopRetry: (() => void) | null = null;
  #delayMs = MIN_DELAY_MS;

  constructor(readonly account: string, private readonly options: AccountMeterOptions) {}

  /** What a new call can reserve: the balance less what open calls have reserved. */
  get spendable(): Money {
    return this.balance - this.#reserved;
  }

  /** The available balance as far as it is known, less the charges that are not durable yet. */
  get balance(): Money {
    return this.#available - this.#undurable;
  }

  /** How long ago the balance was read; infinite when that must not be relied on. */
  get balanceAgeMs(): number {
    const age = this.options.clock.now() - this.#readAt;
    return age >= 0 ? age : Infinity;
  }

  /** Whether nothing is lost when the purse is dropped. */
  get isIdle(): boolean {
    return this.userCount === 0 && this.#lane === null && this.#delayed.length === 0;
  }

  /** Reserves money for a call in memory, until {@linkcode AccountMeter.releaseReservation} is called with the same call. */
  reserve(call: OpenCall): void {
    this.#open.add(call);
    this.#reserved += call.amount;
  }

  /** Ends a reservation. */
  releaseReservation(call: OpenCall): void {
    if (this.#open.delete(call)) this.#reserved -= call.amount;
  }

  /** Sets what is called when the account is overdrawn too far, which may be now. */
  onOverdrawn(call: OpenCall, onOverdrawn: () => void): void {
    call.onOverdrawn = onOverdrawn;
    this.#endIfOverdrawn();
  }

  /** The next call has to read the balance: somebody else moved it. */
  invalidate(): void {
    this.#generation++;
    this.#readAt = -Infinity;
  }

  /** Reads the balance after the commit under way; joins a read that was asked for. Rejects as the store does. */
  readBalance(): Promise<void> {
    const reading = this.#reading ??= Promise.withResolvers<void>();
    this.#run();
    return reading.promise;
  }

  /**
   * Resolves once the charge is durable. Rejects with `storage_unavailable` when the store does not take it: it is
   * written later. Rejects with `internal_error` when the store refuses it for good; it is logged as `charge_lost`.
   */
  charge(row: ChargeRow): Promise<void> {
    const durable = Promise.withResolvers<void>();
    this.#undurable += row.amount;
    this.#waiting.push({ row, durable });
    this.#run();
    this.#endIfOverdrawn();
    return durable.promise;
  }

  /** Sends what waits without lingering, and what was delayed once more; what is not taken then is lost. */
  async flush(): Promise<void> {
    this.#hurried = true;
    this.#stopLingering?.();
    await this.#lane;
    if (this.#delayed.length > 0) {
      this.#isRetryDue = true;
      this.#run();
      await this.#lane;
      this.#stopRetry?.();
      for (const { rows } of this.#delayed.splice(0)) this.#logLost(rows, "the process ends");
    }
    this.#hurried = false;
  }

  #run(): void {
    this.#lane ??= this.#work();
  }

  /** Never rejects: every failure reaches those who wait for it. */
  async #work(): Promise<void> {
    while (this.#reading || this.#waiting.length > 0 || this.#isRetryDue) {
      if (this.#isRetryDue) {
        await this.#retryDelayed();
      } else if (this.#reading) {
        await this.#readBalance(this.#reading);
      } else {
        // Also without lingering this lets the charges of the same turn of the event loop come along.
        await this.#linger();
        const rows = this.#waiting.map(({ row }) => row);
        await this.#commitGroup(this.#waiting.splice(0, countFittingRows(rows, this.options.store.limits)));
      }
    }
    this.#lane = null;
  }

  async #readBalance(reading: PromiseWithResolvers<void>): Promise<void> {
    const startedAt = this.options.clock.now();
    const generation = this.#generation;
    try {
      const { available } = await this.options.store.balance(this.account);
      this.#available = available;
      // What was read while somebody moved the balance may be from before.
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
   * Ends the open calls that can be ended once the balance is below minus the largest open reservation. That happens
   * only when vendors exceed the limits that they were sent, or when others take money from the account.
   */
  #endIfOverdrawn(): void {
    if (this.balance >= 0n || this.#open.size === 0) return;
    let largest = 0n;
    for (const { amount } of this.#open) if (amount > largest) largest = amount;
    if (this.balance >= -largest) return;
    // A call that ends may charge at once, which comes back here: the set is copied, and each listener called once.
    for (const call of [...this.#open]) {
      const { onOverdrawn } = call;
      call.onOverdrawn = null;
      onOverdrawn?.();
    }
  }

  #linger(): Promise<void> | void {
    const { groupDelayMs: lingerMs, clock } = this.options;
    if (lingerMs === 0 || this.#hurried) return;
    return new Promise((resolve) => {
      const stop = clock.after(lingerMs, resolve);
      this.#stopLingering = () => {
        stop();
        resolve();
      };
    });
  }

  async #commitGroup(group: readonly Waiting[]): Promise<void> {
    const rows = group.map(({ row }) => row);
    const charge = { reference: `charge_${newSortableId(this.options.clock.now())}`, rows };
    const failure = await this.#commitInTries(charge);
    const error = failure === null ? null : this.#keepOrLose(charge, failure);
    for (const { durable } of group) {
      if (error === null) durable.resolve();
      else durable.reject(error);
    }
  }

  /** Gives null when the rows are durable, else why they are not, after several tries. */
  async #commitInTries(charge: Delayed): Promise<CommitFailure | null> {
    const { clock, log } = this.options;
    const { reference } = charge;
    for (let attempt = 0;; attempt++) {
      const failure = await this.#commitOnce(charge);
      if (failure === null || attempt === RETRY_DELAYS_MS.length) return failure;
      log.warn("charge_retried", { accountId: this.account, ref: reference, attempt, reason: String(failure.reason) });
      await sleep(clock, RETRY_DELAYS_MS[attempt]);
    }
  }

  /** A repeat after an attempt that failed but had become durable is harmless: its ledger entry stands already. */
  async #commitOnce({ reference, rows }: Delayed): Promise<CommitFailure | null> {
    const commit = addCharge({}, { account: this.account, reference, rows });
    const failure = await this.options.store.commit(null, commit)
      .then(failureOf, (thrown) => ({ reason: thrown ?? "no reason given", isFinal: false }));
    if (failure !== null) return failure;
    const total = totalOf(rows);
    this.#undurable -= total;
    this.#available -= total;
    return null;
  }

  /** What is to become of a charge that was not written; gives the error for its callers. */
  #keepOrLose(charge: Delayed, { reason, isFinal }: CommitFailure): GatewayError {
    const { rows, reference } = charge;
    const kept = this.#delayed.reduce((sum, delayed) => sum + delayed.rows.length, 0);
    if (isFinal || kept + rows.length > MAX_DELAYED_ROWS) {
      this.#lose(charge, reason);
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
      this.#run();
    });
  }

  async #retryDelayed(): Promise<void> {
    this.#isRetryDue = false;
    while (this.#delayed.length > 0) {
      const [charge] = this.#delayed;
      const failure = await this.#commitOnce(charge);
      if (failure !== null && !failure.isFinal) {
        this.#delayMs = Math.min(this.#delayMs * 2, MAX_DELAY_MS);
        return this.#retryLater();
      }
      this.#delayed.shift();
      if (failure !== null) this.#lose(charge, failure.reason);
      else this.options.log.info("charge_recorded", { accountId: this.account, ref: charge.reference });
    }
    this.#delayMs = MIN_DELAY_MS;
  }

  #lose({ rows }: Delayed, reason: unknown): void {
    this.#undurable -= totalOf(rows);
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
  /** True when it never will be. */
  readonly isFinal: boolean;
}

/** A ledger entry that stands already is this very charge: no other has its reference. */
function failureOf(result: CommitResult): CommitFailure | null {
  return result.ok || result.why === "duplicate" ? null : { reason: `refused as ${result.why}`, isFinal: true };
}
