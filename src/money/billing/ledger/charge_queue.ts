import { type Clock, sleep } from "../../../platform/lib/basics/clock.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { holdState } from "../../../platform/lib/basics/held.ts";
import { newSortableId } from "../../../platform/lib/basics/ids.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import { type Money, writeMoney } from "../../../platform/lib/basics/money.ts";
import type { Journal } from "../../../platform/store/journal/journal.ts";
import type { CommitResult, Store } from "../../../platform/store/store.ts";
import { storageUnavailable } from "../../../platform/store/write_health.ts";
import { addWrittenCharge, type ChargeRow, readWrittenRow, writeRow } from "./charge.ts";
import { ChargeGroup } from "./charge_group.ts";
import type { LedgerSchedule } from "./ledger_schedule.ts";

/** The dependencies and settings of a charge queue. */
export interface ChargeQueueOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes charges durable before they are in the ledger; null: each charge waits for the ledger. */
  readonly journal: Journal | null;
  /** When charges in the journal are written to the ledger. */
  readonly schedule: LedgerSchedule;
  /** Called when charges are in the ledger, with their sum. */
  readonly onWritten: (amount: Money) => void;
}

const RETRY_DELAYS_MS: readonly number[] = [50, 200, 800];
const MIN_DELAY_MS = 2_000;
const MAX_DELAY_MS = 30_000;
/** Per account; further rows that are in no journal are lost. No new call is admitted meanwhile. */
const MAX_DELAYED_ROWS = 10_000;

/**
 * The charges of one account on their way to the ledger, and the reads that run between their commits.
 *
 *     add(row) → journal → the open group → one commit with other rows, 40 ms later → in the ledger
 *              └ no journal, or it failed → the open group → one commit at once → in the ledger
 *
 * A group that cannot be written after several attempts is retried after 2, 4 … 30 s, until it is written or the
 * process ends. Its rows in the journal are replayed at the next start; the others are lost then.
 *
 * Charges during a commit form the next group, so a busy account makes one commit at a time.
 */
export class ChargeQueue {
  #pending: Money = 0n;
  /** Groups whose commit has not begun. The last one is open while it has room. */
  readonly #groups: ChargeGroup[] = [];
  /** How many of the first groups are to be written now. */
  #dueCount = 0;
  /** Groups that the store refused for now. */
  #delayed: ChargeGroup[] = [];
  /** All groups that are not in the ledger. */
  readonly #unwritten = new Set<ChargeGroup>();
  readonly #between: (() => Promise<void>)[] = [];
  #running: Promise<void> | null = null;
  #isRetryDue = false;
  #stopRetry: (() => void) | null = null;
  #delayMs = MIN_DELAY_MS;

  constructor(readonly account: string, private readonly options: ChargeQueueOptions) {}

  /** The sum of all charges that are not in the ledger. */
  get pending(): Money {
    return this.#pending;
  }

  /** The age of the oldest charge that is not in the ledger, in milliseconds; 0 if there is none. */
  get lagMs(): number {
    for (const { startedAt } of this.#unwritten) return this.options.clock.monotonicMs() - startedAt;
    return 0;
  }

  /** Whether nothing is queued or running. */
  get isIdle(): boolean {
    return this.#running === null && this.#unwritten.size === 0;
  }

  /**
   * Adds a charge. Returns nothing if it is durable, otherwise a promise. It rejects with `storage_unavailable` if the
   * charge cannot be written now: it is written later. It rejects with `internal_error` if the store refuses it for
   * good; it is logged as `charge_lost`.
   */
  add(row: ChargeRow): MaybePromise<void> {
    const { journal, schedule } = this.options;
    const written = writeRow(row);
    const group = this.#groupFor(written);
    group.add(written, row.amount);
    this.#pending += row.amount;
    if (journal === null) return this.#writeUnjournaled(group, written);
    const appended = group.appendTo(journal, written);
    if (appended === null) return this.#writeUnjournaled(group, written);
    schedule.add(this);
    if (appended) return appended.catch(() => this.#writeUnjournaled(group, written));
  }

  /**
   * Writes a closed group to the ledger that another thread journaled. It counts at once. Resolves as
   * {@linkcode ChargeGroup.whenWritten}.
   */
  addGroup(group: ChargeGroup): Promise<void> {
    this.#groups.splice(this.#dueCount, 0, group);
    this.#dueCount++;
    this.#unwritten.add(group);
    this.#pending += group.total;
    const written = group.whenWritten();
    this.#start();
    return written;
  }

  /** Writes all groups to the ledger now. */
  write(): void {
    this.#dueCount = this.#groups.length;
    this.#start();
  }

  /**
   * Writes all charges to the ledger that were made before this call. Returns nothing if all are there already,
   * otherwise a promise, which rejects if the store cannot write them now.
   */
  settle(): MaybePromise<void> {
    if (this.#unwritten.size === 0) return;
    const written = Promise.all([...this.#unwritten].map((group) => group.whenWritten()));
    this.#isRetryDue ||= this.#delayed.length > 0;
    this.write();
    return written.then(() => {});
  }

  /** Runs a task before the next commit. The task must not reject. */
  runBetween(task: () => Promise<void>): void {
    this.#between.push(task);
    this.#start();
  }

  /**
   * The sum of the charges since an instant that are not in the ledger.
   *
   * @param keyId Null for all keys.
   */
  unwrittenSince(since: number, keyId: string | null): Money {
    let sum = 0n;
    for (const group of this.#unwritten) {
      for (const row of group.rows.map(readWrittenRow)) {
        if (row.at >= since && (keyId === null || row.keyId === keyId)) sum += row.amount;
      }
    }
    return sum;
  }

  /** Writes all charges once more, for the end of the process, and logs those that stay. Never rejects. */
  async flush(): Promise<void> {
    // Ends when all charges are tried once: the process is ending and admits no more calls.
    while (this.#groups.length > 0 || this.#running !== null) {
      this.write();
      await this.#running;
    }
    if (this.#delayed.length === 0) return;
    this.#isRetryDue = true;
    this.#start();
    await this.#running;
    this.#stopRetry?.();
    for (const group of this.#delayed.splice(0)) this.#logUnwritten(group);
  }

  #groupFor(row: string): ChargeGroup {
    const open = this.#groups.at(-1);
    if (open?.hasRoomFor(row, this.options.store.limits)) return open;
    const { clock } = this.options;
    const group = new ChargeGroup(this.account, `charge_${newSortableId(clock.now())}`, clock.monotonicMs());
    this.#groups.push(group);
    this.#unwritten.add(group);
    return group;
  }

  #writeUnjournaled(group: ChargeGroup, row: string): Promise<void> {
    const written = group.whenWritten();
    if (!this.#unwritten.has(group)) return written;
    group.unjournaled.push(row);
    if (this.#delayed.includes(group)) this.#isRetryDue = true;
    this.write();
    return written;
  }

  get #hasWork(): boolean {
    return this.#between.length > 0 || this.#dueCount > 0 || this.#isRetryDue;
  }

  #start(): void {
    if (!this.#hasWork || this.#running !== null) return;
    this.#running = this.#run();
    holdState(this.#running, "charges");
  }

  /** Never rejects; each failure is passed to those who wait for it. */
  async #run(): Promise<void> {
    // Ends when nothing waits: each step commits a group, or waits for the store.
    while (this.#hasWork) {
      if (this.#isRetryDue) {
        await this.#retryDelayed();
        continue;
      }
      for (const task of this.#between.splice(0)) await task();
      // Also if further tasks came meanwhile: reads and leases that never end must not hold up the charges.
      if (this.#dueCount === 0) continue;
      await undefined; // charges of the same turn of the event loop join the group
      this.#dueCount--;
      const group = this.#groups.shift();
      if (group !== undefined) await this.#write(group);
    }
    this.#running = null;
  }

  async #write(group: ChargeGroup): Promise<void> {
    const failure = await this.#commitWithRetries(group);
    if (failure !== null) this.#keepOrGiveUp(group, failure);
  }

  /** Returns null once the rows are in the ledger, otherwise the failure after several attempts. */
  async #commitWithRetries(group: ChargeGroup): Promise<CommitFailure | null> {
    const { clock, log } = this.options;
    for (let attempt = 0;; attempt++) {
      const failure = await this.#commitOnce(group);
      const delayMs = RETRY_DELAYS_MS[attempt];
      if (failure === null || delayMs === undefined) return failure;
      const { reference: ref } = group;
      log.warn("charge_retried", { accountId: this.account, ref, attempt, reason: String(failure.reason) });
      await sleep(clock, delayMs);
    }
  }

  /** A repeat after a failed attempt that was in fact durable is harmless: its ledger entry exists. */
  async #commitOnce(group: ChargeGroup): Promise<CommitFailure | null> {
    const failure = await this.options.store.commit(null, addWrittenCharge({}, group))
      .then(failureOf, (thrown) => ({ reason: thrown ?? "no reason given", isFinal: false }));
    if (failure !== null) return failure;
    this.#forget(group);
    this.options.onWritten(group.total);
    group.noteWritten();
    return null;
  }

  #forget(group: ChargeGroup): void {
    this.#unwritten.delete(group);
    this.#pending -= group.total;
    if (this.options.journal !== null) group.releaseSegments(this.options.journal);
  }

  /** Keeps a failed group for later, or gives it up. Those who wait for it get an error. */
  #keepOrGiveUp(group: ChargeGroup, { reason, isFinal }: CommitFailure): void {
    const { rows, unjournaled, reference } = group;
    const kept = this.#delayed.reduce((sum, delayed) => sum + delayed.unjournaled.length, 0);
    const isTooMuch = unjournaled.length === rows.length && kept + rows.length > MAX_DELAYED_ROWS;
    if (isFinal || isTooMuch) return this.#giveUp(group, reason);
    this.#delayed.push(group);
    const cost = writeMoney(group.total);
    const facts = { accountId: this.account, ref: reference, count: rows.length, cost, reason: String(reason) };
    this.options.log.error("charge_delayed", facts);
    this.#retryLater();
    group.noteFailure(storageUnavailable(reason));
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
    // Ends with the list, or at the first failure.
    for (let group = this.#delayed[0]; group !== undefined; group = this.#delayed[0]) {
      const failure = await this.#commitOnce(group);
      if (failure !== null && !failure.isFinal) {
        this.#delayMs = Math.min(this.#delayMs * 2, MAX_DELAY_MS);
        for (const delayed of this.#delayed) delayed.noteFailure(storageUnavailable(failure.reason));
        return this.#retryLater();
      }
      this.#delayed.shift();
      if (failure !== null) this.#giveUp(group, failure.reason);
      else this.options.log.info("charge_recorded", { accountId: this.account, ref: group.reference });
    }
    this.#delayMs = MIN_DELAY_MS;
  }

  #giveUp(group: ChargeGroup, reason: unknown): void {
    this.#forget(group);
    this.#logLost(group.rows, reason);
    group.noteLost(new GatewayError("internal_error", "Cannot record the charge", { cause: reason }));
  }

  #logUnwritten(group: ChargeGroup): void {
    this.#logLost(group.unjournaled, "the process ends");
    const count = group.rows.length - group.unjournaled.length;
    if (count > 0) this.options.log.warn("charge_in_journal", { accountId: this.account, ref: group.reference, count });
  }

  #logLost(rows: readonly string[], failure: unknown): void {
    for (const { requestId, model, provider, amount } of rows.map(readWrittenRow)) {
      const cost = writeMoney(amount);
      const facts = { accountId: this.account, requestId, model, provider, cost, reason: String(failure) };
      this.options.log.error("charge_lost", facts);
    }
  }
}

/** Why a group was not written. */
interface CommitFailure {
  readonly reason: unknown;
  /** Whether a retry cannot succeed. */
  readonly isFinal: boolean;
}

/** An existing ledger entry with this reference is this very group, as references are unique. */
function failureOf(result: CommitResult): CommitFailure | null {
  return result.ok || result.why === "duplicate" ? null : { reason: `refused as ${result.why}`, isFinal: true };
}
