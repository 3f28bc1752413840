import type { Clock } from "../../lib/basics/clock.ts";
import type { Log } from "../../lib/basics/log.ts";
import { type DueTime, WakeListeners } from "../wake_listeners.ts";
import { alarmKindOf, QueueAlarms } from "./queue_alarms.ts";
import { commitTransaction, readStoredBalance, type StoredBalance } from "./commit_transaction.ts";
import type { Transaction } from "./transaction.ts";
import type { MetricFamily } from "../../lib/basics/metric_family.ts";
import type { StoreEngine } from "../engine.ts";
import { type RateLimit, RateLimiter } from "../gcra.ts";
import { GroupCommit, type WriteCounts } from "./group_commit.ts";
import { encodeKey, encodeStorableKey } from "../key_encoding.ts";
import { balanceKey, jobKey, type JobRecord, kvKeyOf, SCHEMA } from "./keys.ts";
import { KV_LIMITS } from "./limits.ts";
import {
  byClaimOrder,
  claimTransaction,
  dueJobsOf,
  JOBS_PER_TRANSACTION,
  kindsOfJobs,
  renewTransaction,
} from "./leases.ts";
import { jobMetrics } from "./store_metrics.ts";
import { type Page, readLedger, readValues, scanValues } from "./read.ts";
import { ClockRollbackDetector, isRollback } from "../clock_rollback.ts";
import { advanceTransaction, CLOCK_WRITE_INTERVAL_MS, waitingJobsOf } from "./due_time_shift.ts";
import { type WriteGuard, WriteHealth, type WriteHealthOptions } from "../write_health.ts";
import type { Balance, Commit, CommitResult, Entry, Job, Key, StoredLedgerEntry, StoreLimits } from "../store.ts";
import { type StoreTime, storeTimeOf } from "../store_time.ts";

/** An open database without other writers. */
export interface OwnedDatabase {
  readonly kv: Deno.Kv;
  /** The number of this open of the database, from 1. */
  readonly generation: number;
  /** The clock when due times were last written, in Unix milliseconds; null if never. */
  readonly clockWrittenAt: number | null;
  /** Publishes the gateway's address to other processes that find the database in use; null withdraws it. */
  readonly publish: (address: string | null) => Promise<void>;
  /** Called before the database is closed, when all commits are in it. */
  readonly onClose: () => void;
  /** Releases the lock on the database. */
  readonly release: () => Promise<void>;
  /** The free space on the disk and the minimum. Default: not checked. */
  readonly space?: Pick<WriteHealthOptions, "freeBytes" | "minFreeBytes">;
  /** Whether the database is still where it was opened. Default: it is. */
  readonly isInPlace?: () => boolean;
}

const TIMER_RANGE_MS = 60_000;

/** The store on Deno KV. The port documents the members. */
export class KvStore implements StoreEngine {
  readonly limits: StoreLimits = KV_LIMITS;
  readonly #kv: Deno.Kv;
  readonly #generation: number;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #publish: (address: string | null) => Promise<void>;
  readonly #onClose: () => void;
  readonly #release: () => Promise<void>;
  readonly #wakes: WakeListeners;
  readonly #rollback: ClockRollbackDetector;
  #clockWrittenAt = -Infinity;
  readonly #queueAlarms: QueueAlarms;
  readonly #group: GroupCommit;
  readonly #health: WriteHealth;
  readonly #buckets = new RateLimiter();
  readonly #queueListener: Promise<void>;
  #claiming: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | null = null;

  /** Use `openKvStore`. Takes over the database and closes it in the end. */
  constructor(database: OwnedDatabase, clock: Clock, log: Log) {
    const { kv, generation, clockWrittenAt, publish, onClose, release, space = {}, isInPlace = () => true } = database;
    this.#kv = kv;
    this.#generation = generation;
    this.#clock = clock;
    this.#log = log;
    this.#publish = publish;
    this.#onClose = onClose;
    this.#release = release;
    this.#wakes = new WakeListeners(clock, log);
    this.#rollback = new ClockRollbackDetector(clock);
    this.#queueAlarms = new QueueAlarms(clock);
    this.#health = new WriteHealth({ clock, log, probe: () => this.#group.submit(WRITE_PROBE), isInPlace, ...space });
    this.#group = new GroupCommit(
      kv,
      (atomic, due) => this.#setAlarms(atomic, due),
      (refusal) => refusal === null ? this.#health.noteSuccess() : this.#health.noteFailure(refusal),
    );
    this.#queueListener = this.#listen();
    const rollbackMs = clockWrittenAt === null ? 0 : clockWrittenAt - clock.now();
    if (isRollback(rollbackMs)) this.#shiftDueTimesLater(rollbackMs);
  }

  get writeGuard(): WriteGuard {
    return this.#health;
  }

  /** Counts of writes since the open, for measurements. */
  get counts(): WriteCounts {
    return this.#group.counts;
  }

  publishAddress(address: string | null): Promise<void> {
    return this.#publish(address);
  }

  now(): StoreTime {
    this.#checkClock();
    return storeTimeOf(this.#clock.now());
  }

  async get<T = unknown>(keys: readonly Key[]): Promise<(Entry<T> | null)[]> {
    this.#assertOpen();
    return await readValues<T>(this.#kv, this.#group.cache, keys, this.now());
  }

  async scan<T = unknown>(prefix: Key, page: Page<Key>): Promise<Entry<T>[]> {
    this.#assertOpen();
    return await scanValues<T>(this.#kv, prefix, page, this.now());
  }

  async commit(operation: string | null, commit: Commit): Promise<CommitResult> {
    this.#assertOpen();
    return this.#refusalWithoutTransaction(commit) ??
      await this.#group.submit(commitTransaction(operation, commit, () => this.now(), this.#generation));
  }

  /**
   * Refuses a commit that only postpones jobs if one of them is known to belong to another worker. That never changes
   * again, so it needs no transaction. Every run of a job ends with such a commit.
   */
  #refusalWithoutTransaction(commit: Commit): CommitResult | null {
    if (commit.postponeJobs === undefined || Object.keys(commit).length > 1) return null;
    const at = commit.postponeJobs.findIndex(({ job }) => {
      const cached = this.#group.cache.get(encodeKey(jobKey(job.kind, job.ref)));
      const record = cached?.value as JobRecord | undefined;
      return cached !== undefined && (record?.id !== job.id || record.epoch !== job.epoch);
    });
    return at < 0 ? null : { ok: false, why: "fenced", at };
  }

  async balance(account: string): Promise<Balance> {
    this.#assertOpen();
    const key = balanceKey(account);
    const cached = this.#group.cache.get(encodeKey(key)) ?? await this.#kv.get(kvKeyOf(key));
    return readStoredBalance(cached.value as StoredBalance | null | undefined);
  }

  async ledger(account: string, page: Page<string>): Promise<StoredLedgerEntry[]> {
    this.#assertOpen();
    return await readLedger(this.#kv, account, page);
  }

  async claim(kinds: readonly string[], limit: number, leaseMs: number): Promise<Job[]> {
    this.#assertOpen();
    this.#checkClock();
    // One claim after the other, so that each sees the result of the one before.
    const claim = this.#claiming.then(() => this.#claim(kinds, limit, leaseMs));
    this.#claiming = claim.catch(() => {});
    return await claim;
  }

  async jobDueTimes(kind: string, refs: readonly string[]): Promise<(StoreTime | null)[]> {
    this.#assertOpen();
    this.#checkClock();
    await this.#claiming; // due times may be moving
    const records = await Promise.all(refs.map((ref) => this.#jobOf(kind, ref)));
    return records.map((record) => {
      if (record === null) return null;
      return storeTimeOf(record.generation === 0 ? record.dueAt : Math.min(record.dueAt, this.now()));
    });
  }

  async #jobOf(kind: string, ref: string): Promise<JobRecord | null> {
    const key = jobKey(kind, ref);
    const id = encodeStorableKey(key, this.limits.maxKeyBytes);
    if (id === null) return null;
    const cached = this.#group.cache.get(id) ?? await this.#kv.get(kvKeyOf(key));
    return (cached.value as JobRecord | null | undefined) ?? null;
  }

  async renew(jobs: readonly Job[], leaseMs: number): Promise<Job[]> {
    this.#assertOpen();
    const options = { leaseMs, now: () => this.now(), generation: this.#generation };
    this.#checkClock();
    await this.#claiming; // otherwise a renewed lease would be moved together with the due times
    return await this.#submitAll(jobs, (part) => renewTransaction(part, options));
  }

  // deno-lint-ignore require-await -- a refused term rejects
  async take(bucket: string, terms: RateLimit): Promise<{ readonly ok: boolean; readonly waitMs: number }> {
    this.#assertOpen();
    return this.#buckets.take(bucket, this.now(), terms);
  }

  onWake(listener: (kind: string) => void): () => void {
    return this.#wakes.listen(listener);
  }

  async wakeOverdueJobs(): Promise<number> {
    this.#assertOpen();
    let overdue = 0;
    for (const kind of await kindsOfJobs(this.#kv)) {
      const { due, next } = await dueJobsOf(this.#kv, kind, {
        limit: 1,
        now: this.now(),
        generation: this.#generation,
      });
      if (next) this.#wakeIfNear(next);
      if (due.length === 0) continue;
      overdue++;
      this.#wakes.wake(kind);
    }
    return overdue;
  }

  async metrics(): Promise<readonly MetricFamily[]> {
    this.#assertOpen();
    return [...this.#group.metrics.families(), ...await jobMetrics(this.#kv, this.now())];
  }

  async isReady(): Promise<boolean> {
    try {
      this.#assertOpen();
      await this.#kv.get(["schema"]);
      if (this.#group.lastWriteFailed) await this.#group.submit(WRITE_PROBE);
      return this.#health.failure === null;
    } catch {
      return false;
    }
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    await this.#claiming;
    this.#health.close();
    await this.#group.idle();
    this.#wakes.close();
    this.#onClose();
    this.#kv.close();
    await this.#queueListener;
    await this.#release();
  }

  async #claim(kinds: readonly string[], limit: number, leaseMs: number): Promise<Job[]> {
    if (limit <= 0) return [];
    const now = () => this.now();
    const generation = this.#generation;
    const found = await Promise.all(
      [...new Set(kinds)].map((kind) => dueJobsOf(this.#kv, kind, { limit, now: now(), generation })),
    );
    for (const { next } of found) if (next) this.#wakeIfNear(next);
    const entries = found.flatMap(({ due }) => due).sort(byClaimOrder(generation)).slice(0, limit);
    return await this.#submitAll(entries, (part) => claimTransaction(part, { leaseMs, now, generation }));
  }

  /**
   * Submits transactions in parts. Successful parts count also when others fail: a claimed job must reach its worker.
   */
  async #submitAll<T>(items: readonly T[], transactionOf: (part: readonly T[]) => Transaction<Job[]>): Promise<Job[]> {
    const parts = partsOf(items).map((part) => this.#group.submit(transactionOf(part)));
    const settled = await Promise.allSettled(parts);
    const jobs = settled.flatMap((part) => part.status === "fulfilled" ? part.value : []);
    const failed = settled.find((part) => part.status === "rejected");
    if (failed && jobs.length === 0) throw failed.reason;
    return jobs;
  }

  #checkClock(): void {
    const rollbackMs = this.#rollback.takeRollbackMs();
    if (rollbackMs > 0) this.#shiftDueTimesLater(rollbackMs);
  }

  /**
   * Moves due times before the next claim. A job that is postponed in the meantime may be moved as well and then runs
   * early.
   */
  #shiftDueTimesLater(byMs: number): void {
    this.#log.warn("clock_set_back", { durationMs: byMs });
    const moving = this.#claiming.then(() => this.#shiftDueTimes(byMs));
    this.#claiming = moving.catch((error) => this.#log.error("due_times_not_moved", { reason: String(error) }));
  }

  async #shiftDueTimes(byMs: number): Promise<void> {
    const at = { now: this.#clock.now(), generation: this.#generation };
    for (const kind of await kindsOfJobs(this.#kv)) {
      const waiting = await waitingJobsOf(this.#kv, kind, at);
      await Promise.all(partsOf(waiting).map((part) => this.#group.submit(advanceTransaction(part, byMs))));
    }
  }

  #writeClock(atomic: Deno.AtomicOperation): void {
    const now = this.#clock.now();
    if (Math.abs(now - this.#clockWrittenAt) < CLOCK_WRITE_INTERVAL_MS) return;
    this.#clockWrittenAt = now; // if the write fails, later writes store the clock again
    atomic.set(["clock"], now);
  }

  #setAlarms(atomic: Deno.AtomicOperation, due: readonly DueTime[]): () => void {
    if (due.length > 0) this.#writeClock(atomic);
    const enqueued = this.#queueAlarms.enqueue(atomic, due);
    return () => {
      enqueued();
      const now = this.now();
      for (const kind of new Set(due.filter(({ dueAt }) => dueAt <= now).map(({ kind }) => kind))) {
        this.#wakes.wake(kind);
      }
      for (const one of due) if (one.dueAt > now) this.#wakeIfNear(one);
    };
  }

  #wakeIfNear({ kind, dueAt }: DueTime): void {
    if (!this.#closing && dueAt - this.now() <= TIMER_RANGE_MS) this.#wakes.wakeAt({ kind, dueAt });
  }

  async #listen(): Promise<void> {
    try {
      await this.#kv.listenQueue((message: unknown) => {
        const kind = alarmKindOf(message);
        if (kind !== null) this.#wakes.wake(kind);
      });
    } catch (error) {
      if (!this.#closing) this.#log.error("queue_listener_failed", { reason: String(error) });
    }
  }

  #assertOpen(): void {
    if (this.#closing) throw new Error("Cannot use the store: it is closed");
  }
}

/** Splits items into parts of one transaction each. */
function partsOf<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / JOBS_PER_TRANSACTION);
  return Array.from({ length: count }, (_, i) => items.slice(i * JOBS_PER_TRANSACTION, (i + 1) * JOBS_PER_TRANSACTION));
}

const WRITE_PROBE: Transaction<null> = {
  reads: [],
  size: { checks: 0, writes: 1, bytes: 64, keyBytes: 32 },
  decide(draft) {
    draft.put(["schema"], SCHEMA);
    return { accepted: true, result: () => null };
  },
};
