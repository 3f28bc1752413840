import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { alarmKindOf, QueueAlarms, WakeListeners } from "../wake_listeners.ts";
import { commitTransaction, type StoredBalance } from "./commit_transaction.ts";
import type { DueTime, Transaction } from "./transaction.ts";
import type { StoreEngine } from "../engine.ts";
import { type RateLimit, RateLimiter } from "../gcra.ts";
import { GroupCommit, type WriteCounts } from "./group_commit.ts";
import { balanceKey, encodeKey, encodeStorableKey, jobKey, type JobRecord, kvKeyOf, SCHEMA } from "./keys.ts";
import { KV_LIMITS } from "../commit_size.ts";
import {
  byClaimOrder,
  claimTransaction,
  dueJobsOf,
  JOBS_PER_TRANSACTION,
  kindsOfJobs,
  renewTransaction,
} from "./leases.ts";
import { type Page, readLedger, readValues, scanValues } from "./read.ts";
import {
  advanceTransaction,
  CLOCK_WRITE_INTERVAL_MS,
  ClockRollbackDetector,
  isRollback,
  waitingJobsOf,
} from "../clock_rollback.ts";
import { type WriteGuard, WriteHealth, type WriteHealthOptions } from "../write_health.ts";
import type { Balance, Commit, CommitResult, Entry, Job, Key, StoredLedgerEntry, StoreLimits } from "../store.ts";

/** An open database that nobody else writes. */
export interface OwnedDatabase {
  readonly kv: Deno.Kv;
  /** Which open this is, from 1. */
  readonly generation: number;
  /** The clock when due times were last written, in Unix milliseconds; null: never. */
  readonly notedAt: number | null;
  /** Tells who finds the database in use where its gateway is reached; null: it is not. */
  readonly publish: (address: string | null) => Promise<void>;
  /** Lets the next owner in. */
  readonly release: () => Promise<void>;
  /** How much room its disk has, and should have. Default: not looked at. */
  readonly space?: Pick<WriteHealthOptions, "freeBytes" | "minFreeBytes">;
}

const NEAR_MS = 60_000;

/** The store port on Deno KV. The members of the port are described there. */
export class KvStore implements StoreEngine {
  readonly limits: StoreLimits = KV_LIMITS;
  readonly #kv: Deno.Kv;
  readonly #generation: number;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #publish: (address: string | null) => Promise<void>;
  readonly #release: () => Promise<void>;
  readonly #wakes: WakeListeners;
  readonly #setBack: ClockRollbackDetector;
  #clockNotedAt = -Infinity;
  readonly #queueAlarms: QueueAlarms;
  readonly #group: GroupCommit;
  readonly #health: WriteHealth;
  readonly #buckets = new RateLimiter();
  readonly #listening: Promise<void>;
  #claiming: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | null = null;

  /** Use `openKvStore`. Takes over the database and closes it in the end. */
  constructor({ kv, generation, notedAt, publish, release, space = {} }: OwnedDatabase, clock: Clock, log: Log) {
    this.#kv = kv;
    this.#generation = generation;
    this.#clock = clock;
    this.#log = log;
    this.#publish = publish;
    this.#release = release;
    this.#wakes = new WakeListeners(clock, log);
    this.#setBack = new ClockRollbackDetector(clock);
    this.#queueAlarms = new QueueAlarms(clock);
    this.#health = new WriteHealth({ clock, log, probe: () => this.#group.submit(WRITE_PROBE), ...space });
    this.#group = new GroupCommit(
      kv,
      (atomic, due) => this.#setAlarms(atomic, due),
      (refusal) => refusal === null ? this.#health.noteSuccess() : this.#health.noteFailure(refusal),
    );
    this.#listening = this.#listen();
    const setBackMs = notedAt === null ? 0 : notedAt - clock.now();
    if (isRollback(setBackMs)) this.#moveUpLater(setBackMs);
  }

  get writeGuard(): WriteGuard {
    return this.#health;
  }

  /** What was written since the open, for measurements. */
  get counts(): WriteCounts {
    return this.#group.counts;
  }

  publishAddress(address: string | null): Promise<void> {
    return this.#publish(address);
  }

  now(): number {
    this.#followClock();
    return this.#clock.now();
  }

  async get<T = unknown>(keys: readonly Key[]): Promise<(Entry<T> | null)[]> {
    this.#assertOpen();
    return await readValues<T>(this.#kv, this.#group.known, keys, this.now());
  }

  async scan<T = unknown>(prefix: Key, page: Page<Key>): Promise<Entry<T>[]> {
    this.#assertOpen();
    return await scanValues<T>(this.#kv, prefix, page, this.now());
  }

  async commit(operation: string | null, commit: Commit): Promise<CommitResult> {
    this.#assertOpen();
    return this.#refusalAtHand(commit) ??
      await this.#group.submit(commitTransaction(operation, commit, () => this.now(), this.#generation));
  }

  /**
   * The refusal of a commit that does nothing but put off jobs of which one is known to be somebody else's: that never
   * changes again, so nothing has to be decided. Job runners end with such a commit.
   */
  #refusalAtHand(commit: Commit): CommitResult | null {
    if (commit.postponeJobs === undefined || Object.keys(commit).length > 1) return null;
    const at = commit.postponeJobs.findIndex(({ job }) => {
      const known = this.#group.known.get(encodeKey(jobKey(job.kind, job.ref)));
      const record = known?.value as JobRecord | undefined;
      return known !== undefined && (record?.id !== job.id || record.epoch !== job.epoch);
    });
    return at < 0 ? null : { ok: false, why: "fenced", at };
  }

  async balance(account: string): Promise<Balance> {
    this.#assertOpen();
    const key = balanceKey(account);
    const known = this.#group.known.get(encodeKey(key)) ?? await this.#kv.get(kvKeyOf(key));
    const [available, held] = (known.value as StoredBalance | null | undefined) ?? [0n, 0n];
    return { available, held };
  }

  async ledger(account: string, page: Page<string>): Promise<StoredLedgerEntry[]> {
    this.#assertOpen();
    return await readLedger(this.#kv, account, page);
  }

  async claim(kinds: readonly string[], limit: number, leaseMs: number): Promise<Job[]> {
    this.#assertOpen();
    this.#followClock();
    // One after the other, so that each looks at what the one before it left.
    const claim = this.#claiming.then(() => this.#claim(kinds, limit, leaseMs));
    this.#claiming = claim.catch(() => {});
    return await claim;
  }

  async jobDueTimes(kind: string, refs: readonly string[]): Promise<(number | null)[]> {
    this.#assertOpen();
    this.#followClock();
    await this.#claiming; // due times may be moved just now
    const records = await Promise.all(refs.map((ref) => this.#jobOf(kind, ref)));
    return records.map((record) => {
      if (record === null) return null;
      return record.generation === 0 ? record.dueAt : Math.min(record.dueAt, this.now());
    });
  }

  async #jobOf(kind: string, ref: string): Promise<JobRecord | null> {
    const key = jobKey(kind, ref);
    const id = encodeStorableKey(key, this.limits.maxKeyBytes);
    if (id === null) return null;
    const known = this.#group.known.get(id) ?? await this.#kv.get(kvKeyOf(key));
    return (known.value as JobRecord | null | undefined) ?? null;
  }

  async renew(jobs: readonly Job[], leaseMs: number): Promise<Job[]> {
    this.#assertOpen();
    const options = { leaseMs, now: () => this.now(), generation: this.#generation };
    this.#followClock();
    await this.#claiming; // a lease that is renewed while due times are moved would be moved along
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
    this.#kv.close();
    await this.#listening;
    await this.#release();
  }

  async #claim(kinds: readonly string[], limit: number, leaseMs: number): Promise<Job[]> {
    if (limit <= 0) return [];
    const now = () => this.now();
    const generation = this.#generation;
    const looks = await Promise.all(
      [...new Set(kinds)].map((kind) => dueJobsOf(this.#kv, kind, { limit, now: now(), generation })),
    );
    for (const { next } of looks) if (next) this.#wakeIfNear(next);
    const entries = looks.flatMap(({ due }) => due).sort(byClaimOrder(generation)).slice(0, limit);
    return await this.#submitAll(entries, (part) => claimTransaction(part, { leaseMs, now, generation }));
  }

  /** Submits in parts. What succeeded counts: jobs that are claimed must reach their worker. */
  async #submitAll<T>(items: readonly T[], proposal: (part: readonly T[]) => Transaction<Job[]>): Promise<Job[]> {
    const parts = partsOf(items).map((part) => this.#group.submit(proposal(part)));
    const settled = await Promise.allSettled(parts);
    const jobs = settled.flatMap((part) => part.status === "fulfilled" ? part.value : []);
    const failed = settled.find((part) => part.status === "rejected");
    if (failed && jobs.length === 0) throw failed.reason;
    return jobs;
  }

  #followClock(): void {
    const setBackMs = this.#setBack.takeRollbackMs();
    if (setBackMs > 0) this.#moveUpLater(setBackMs);
  }

  /** Before the next claim. A job that is put off in the meantime may be moved, too, and is then done early. */
  #moveUpLater(byMs: number): void {
    this.#log.warn("clock_set_back", { durationMs: byMs });
    const moving = this.#claiming.then(() => this.#moveUp(byMs));
    this.#claiming = moving.catch((error) => this.#log.error("due_times_not_moved", { reason: String(error) }));
  }

  async #moveUp(byMs: number): Promise<void> {
    const at = { now: this.#clock.now(), generation: this.#generation };
    for (const kind of await kindsOfJobs(this.#kv)) {
      const waiting = await waitingJobsOf(this.#kv, kind, at);
      await Promise.all(partsOf(waiting).map((part) => this.#group.submit(advanceTransaction(part, byMs))));
    }
  }

  #noteClock(atomic: Deno.AtomicOperation): void {
    const now = this.#clock.now();
    if (Math.abs(now - this.#clockNotedAt) < CLOCK_WRITE_INTERVAL_MS) return;
    this.#clockNotedAt = now; // should the write fail, the next open notices less: later writes note it again
    atomic.set(["clock"], now);
  }

  #setAlarms(atomic: Deno.AtomicOperation, due: readonly DueTime[]): () => void {
    if (due.length > 0) this.#noteClock(atomic);
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
    if (!this.#closing && dueAt - this.now() <= NEAR_MS) this.#wakes.wakeAt({ kind, dueAt });
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

/** What one proposal takes each. */
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
