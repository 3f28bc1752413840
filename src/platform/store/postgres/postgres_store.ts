import { holdWork } from "../../lib/basics/held.ts";
import { newSortableId } from "../../lib/basics/ids.ts";
import type { Log } from "../../lib/basics/log.ts";
import type { MetricFamily } from "../../lib/basics/metric_family.ts";
import type { ChargedAccounts, StoreEngine } from "../engine.ts";
import type { RateLimit } from "../gcra.ts";
import type { MoneyLeases } from "../money_leases.ts";
import type { ShareLeases } from "../share_leases.ts";
import { clockFamily, type JobCount, jobFamilies, MAX_COUNTED_JOBS } from "../store_metrics.ts";
import { decodeKey } from "../key_encoding.ts";
import type { Balance, Commit, CommitResult, Entry, Job, Key, StoredLedgerEntry, StoreLimits } from "../store.ts";
import { StoreWriteError } from "../store_errors.ts";
import { type DueTime, WakeListeners } from "../wake_listeners.ts";
import { storageUnavailable, type WriteGuard, WriteHealth, type WriteHealthOptions } from "../write_health.ts";
import { commitText } from "./commit_text.ts";
import { type Database, encodedOf, read, reasonOf } from "./database.ts";
import { type DatabaseLock, withLockTurn } from "./database_lock.ts";
import type { EngineClock } from "./engine_clock.ts";
import { GroupCommit } from "./group_commit.ts";
import { claimJobs, dueTimesOf, firstDueTimes, renewJobs } from "./jobs.ts";
import { POSTGRES_LIMITS } from "./limits.ts";
import { postgresMoneyLeases } from "./money_leases.ts";
import { RateBuckets } from "./rate_buckets.ts";
import {
  type Page,
  type Readable,
  readBalance,
  readChargedAccounts,
  readLedger,
  readValues,
  scanValues,
} from "./read.ts";
import { postgresShareLeases } from "./share_leases.ts";
import { sweep } from "./sweep.ts";
import { WakeMessages } from "./wake_messages.ts";
import { type StoreTime, storeTimeOf } from "../store_time.ts";

/** A database whose schema is ready. */
export interface OpenDatabase {
  readonly sql: Database;
  readonly clock: EngineClock;
  readonly log: Log;
  /** The database, for messages. */
  readonly place: string;
  /** How often the clock of the server was found set back. */
  readonly clockEpoch: number;
  /** The lock on the database; null for none. */
  readonly lock: DatabaseLock | null;
  /** The free space on the disk of the files and the minimum. Default: not checked. */
  readonly space?: Pick<WriteHealthOptions, "freeBytes" | "minFreeBytes">;
}

/** With the poll of the other nodes, they have the jobs of a killed one within 12 seconds. */
const JOB_LEASE_MS = 10_000;
const POLL_INTERVAL_MS = 1_000;
const SWEEP_INTERVAL_MS = 600_000;
/** Due times within it have a timer; the poll finds the later ones in time. */
const TIMER_RANGE_MS = 60_000;
/** How often the time of the server is stored while due times are written. */
const CLOCK_WRITE_INTERVAL_MS = 10_000;
const CLOSE_TIMEOUT_SECONDS = 5;

/** The store on PostgreSQL. Several processes may use one database. The port documents the members. */
export class PostgresStore implements StoreEngine {
  readonly limits: StoreLimits = POSTGRES_LIMITS;
  readonly jobLeaseMs = JOB_LEASE_MS;
  readonly moneyLeases: MoneyLeases;
  readonly shareLeases: ShareLeases;
  readonly #sql: Database;
  readonly #clock: EngineClock;
  readonly #log: Log;
  readonly #place: string;
  readonly #group: GroupCommit;
  readonly #health: WriteHealth;
  readonly #wakes: WakeListeners;
  readonly #messages: WakeMessages;
  readonly #buckets = new RateBuckets();
  readonly #lock: DatabaseLock | null;
  readonly #guard: WriteGuard;
  readonly #background = new Set<Promise<unknown>>();
  /** Ends when due times are moved after the clock was set back. */
  #moving: Promise<unknown> = Promise.resolve();
  #clockEpoch: number;
  #clockWrittenAt = -Infinity;
  #stopPoll: () => void = () => {};
  #stopSweep: () => void = () => {};
  #closing: Promise<void> | null = null;

  /** Use `openPostgresStore`. Takes over the database and closes it in the end. */
  constructor({ sql, clock, log, place, clockEpoch, lock, space = {} }: OpenDatabase) {
    this.#sql = sql;
    this.#lock = lock;
    this.#clock = clock;
    this.#log = log;
    this.#place = place;
    this.#clockEpoch = clockEpoch;
    this.#wakes = new WakeListeners(clock, log);
    this.#messages = new WakeMessages(sql, clock, log);
    this.#health = new WriteHealth({ clock, log, probe: () => this.#probe(), ...space });
    this.#guard = lock === null ? this.#health : guardOf(lock, this.#health);
    this.#group = new GroupCommit({
      sql,
      timeParameter: () => clock.parameter,
      onWrite: (error) => error === null ? this.#health.noteSuccess() : this.#health.noteFailure(error),
    });
    const assertWritable = () => {
      this.#assertOpen();
      this.#assertLocked();
    };
    const leases = postgresMoneyLeases(() => this.#readable(), assertWritable);
    const shares = postgresShareLeases(() => this.#readable(), assertWritable);
    this.moneyLeases = {
      ...leases,
      lease: (account, demand) => this.#run(leases.lease(account, demand)),
      read: (account) => this.#run(leases.read(account)),
    };
    this.shareLeases = {
      ...shares,
      lease: (name, demand) => this.#run(shares.lease(name, demand)),
      read: (name) => this.#run(shares.read(name)),
    };
    holdWork(this.#run(this.#messages.listen((due) => this.#wakeIfNear(due))));
    this.#pollLater();
    this.#sweepLater();
  }

  get writeGuard(): WriteGuard {
    return this.#guard;
  }

  /** Nothing: commands need not find a gateway, as they can use the database beside it. */
  publishAddress(): Promise<void> {
    return Promise.resolve();
  }

  clockAheadMs(): number {
    return this.#clock.aheadOfHostMs;
  }

  gateways = (): number => this.#lock?.holders ?? 1;

  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    this.#assertOpen();
    return await this.#run(
      withLockTurn({ sql: this.#sql, clock: this.#clock, log: this.#log, place: this.#place }, work),
    );
  }

  now(): StoreTime {
    this.#checkClock();
    return storeTimeOf(this.#clock.now());
  }

  async get<T = unknown>(keys: readonly Key[]): Promise<(Entry<T> | null)[]> {
    this.#assertOpen();
    return await this.#run(readValues<T>(this.#readable(), keys));
  }

  async scan<T = unknown>(prefix: Key, page: Page<Key>): Promise<Entry<T>[]> {
    this.#assertOpen();
    return await this.#run(scanValues<T>(this.#readable(), prefix, page));
  }

  async commit(operation: string | null, commit: Commit): Promise<CommitResult> {
    this.#assertOpen();
    this.#assertLocked();
    const text = commitText(operation, commit, () => newSortableId(this.#clock.now()));
    const result = await this.#run(this.#group.submit(text));
    if (result.ok && !result.replayed && text.due.length > 0) this.#noteDue(text.due);
    return result;
  }

  async balance(account: string): Promise<Balance> {
    this.#assertOpen();
    return await this.#run(readBalance(this.#readable(), account));
  }

  async ledger(account: string, page: Page<string>): Promise<StoredLedgerEntry[]> {
    this.#assertOpen();
    return await this.#run(readLedger(this.#readable(), account, page));
  }

  async chargedAccounts(since: number | null): Promise<ChargedAccounts> {
    this.#assertOpen();
    return await this.#run(readChargedAccounts(this.#readable(), since));
  }

  async claim(kinds: readonly string[], limit: number, leaseMs: number): Promise<Job[]> {
    this.#assertOpen();
    this.#assertLocked();
    this.#checkClock();
    return await this.#run(
      this.#moving.then(() => claimJobs(this.#readable(), kinds, { limit, leaseMs })).catch((error) => {
        throw new StoreWriteError(new Error(reasonOf(error)));
      }),
    );
  }

  async jobDueTimes(kind: string, refs: readonly string[]): Promise<(StoreTime | null)[]> {
    this.#assertOpen();
    this.#checkClock();
    await this.#moving;
    const times = await this.#run(dueTimesOf(this.#readable(), kind, { refs, until: this.#clock.now() }));
    return times.map((at) => at === null ? null : storeTimeOf(at));
  }

  async renew(jobs: readonly Job[], leaseMs: number): Promise<Job[]> {
    this.#assertOpen();
    this.#checkClock();
    return await this.#run(
      this.#moving.then(() => renewJobs(this.#readable(), jobs, leaseMs)).catch((error) => {
        throw new StoreWriteError(new Error(reasonOf(error)));
      }),
    );
  }

  async take(bucket: string, limit: RateLimit): Promise<{ readonly ok: boolean; readonly waitMs: number }> {
    this.#assertOpen();
    return await this.#run(this.#buckets.take(this.#readable(), { bucket, limit, now: () => this.#clock.now() }));
  }

  onWake(listener: (kind: string) => void): () => void {
    return this.#wakes.listen(listener);
  }

  announce(kind: string): void {
    if (!this.#closing) this.#messages.announce(kind);
  }

  async wakeOverdueJobs(): Promise<number> {
    this.#assertOpen();
    const { due, now } = await this.#run(firstDueTimes(this.#readable()));
    const overdue = due.filter(({ dueAt }) => dueAt <= now);
    for (const one of overdue) this.#wakes.wake(one.kind);
    return overdue.length;
  }

  async metrics(): Promise<readonly MetricFamily[]> {
    this.#assertOpen();
    const rows = await this.#run(read(() =>
      this.#sql<{ kind: Uint8Array; count: number; first: number }[]>`
        select kind, count(*)::int as count, min(due_at) as first
        from (select kind, due_at from switchyard.job limit ${MAX_COUNTED_JOBS}) j group by kind`
    ));
    const counts = rows.map(({ kind, count, first }): [string, JobCount] => {
      return [String(decodeKey(encodedOf(kind))[0]), { count, firstDueAt: first }];
    });
    return [
      ...this.#group.metrics.families(),
      ...jobFamilies(counts, this.#clock.now()),
      clockFamily(this.clockAheadMs()),
    ];
  }

  async isReady(): Promise<boolean> {
    try {
      this.#assertOpen();
      if (this.#health.failure !== null) await this.#probe().then(() => this.#health.noteSuccess());
      else await this.#run(read(() => this.#sql`select 1`));
      return this.#guard.failure === null;
    } catch {
      return false;
    }
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    this.#stopPoll();
    this.#stopSweep();
    this.#health.close();
    await this.#group.idle();
    await this.#messages.close();
    await Promise.allSettled([...this.#background]);
    this.#wakes.close();
    await this.#sql.end({ timeout: CLOSE_TIMEOUT_SECONDS });
    await this.#lock?.release();
  }

  #readable(): Readable {
    return { sql: this.#sql, now: this.#clock.parameter };
  }

  /** Lets the end of the store wait for an operation. */
  #run<T>(operation: Promise<T>): Promise<T> {
    this.#background.add(operation);
    const remove = () => void this.#background.delete(operation);
    operation.then(remove, remove);
    return operation;
  }

  async #probe(): Promise<void> {
    await this.#sql`update switchyard.clock set probed_at = switchyard.now_ms()`.catch((error) => {
      throw new Error(reasonOf(error));
    });
  }

  #noteDue(due: readonly DueTime[]): void {
    this.#writeClock();
    this.#messages.tell(due);
    for (const one of due) this.#wakeIfNear(one);
  }

  #wakeIfNear(due: DueTime): void {
    if (!this.#closing && due.dueAt - this.#clock.now() <= TIMER_RANGE_MS) this.#wakes.wakeAt(due);
  }

  #pollLater(): void {
    this.#stopPoll = this.#clock.after(POLL_INTERVAL_MS, () => {
      if (this.#closing) return;
      const polled = this.#run(this.#poll());
      // The first poll that a returned database answers ends the refusals.
      polled.then(() => this.#health.recheck(), (error) => this.#health.noteFailure(error)).finally(() => {
        if (!this.#closing) this.#pollLater();
      });
    });
  }

  /** Wakes the kinds with due jobs, sets timers for those that are due soon, and reads the time of the server. */
  async #poll(): Promise<void> {
    const { due, now, epoch } = await this.#clock.measure(() => firstDueTimes(this.#readable()));
    this.#checkClock(); // by the epoch before, since another node may have moved the due times already
    this.#clockEpoch = epoch;
    for (const one of due) {
      if (one.dueAt <= now) this.#wakes.wake(one.kind);
      else this.#wakeIfNear(one);
    }
  }

  #sweepLater(): void {
    this.#stopSweep = this.#clock.after(SWEEP_INTERVAL_MS, () => {
      if (this.#closing) return;
      this.#run(sweep(this.#sql, this.#clock, () => this.#closing !== null)).catch((error) => {
        this.#log.warn("store_sweep_failed", { reason: reasonOf(error) });
      }).finally(() => {
        if (!this.#closing) this.#sweepLater();
      });
    });
  }

  /** Stores the server's own time, so that the next start finds out whether its clock was set back meanwhile. */
  #writeClock(): void {
    const now = this.#clock.now();
    if (Math.abs(now - this.#clockWrittenAt) < CLOCK_WRITE_INTERVAL_MS) return;
    this.#clockWrittenAt = now;
    const written = this.#sql`
      update switchyard.clock
      set at = greatest(at, coalesce(${this.#clock.parameter}::float8, switchyard.now_ms()))`.catch(() => {
      this.#clockWrittenAt = -Infinity;
    });
    holdWork(this.#run(written));
  }

  #checkClock(): void {
    const rollbackMs = this.#clock.takeRollbackMs();
    if (rollbackMs <= 0 || this.#closing) return;
    this.#log.warn("clock_set_back", { durationMs: rollbackMs });
    const knownEpoch = this.#clockEpoch;
    const move = this.#moving.then(() => this.#moveDueTimes(rollbackMs, knownEpoch));
    this.#moving = this.#run(move.catch((error) => {
      this.#log.error("due_times_not_moved", { reason: reasonOf(error) });
    }));
  }

  async #moveDueTimes(byMs: number, knownEpoch: number): Promise<void> {
    const { sql, now } = this.#readable();
    const [row] = await sql<{ epoch: string }[]>`
      select switchyard.move_due_times_v1(
        ${knownEpoch}::bigint, coalesce(${now}::float8, switchyard.now_ms()), ${byMs}::float8
      ) as epoch`;
    this.#clockEpoch = Number(row?.epoch);
    await this.#poll();
  }

  #assertOpen(): void {
    if (this.#closing) throw new Error("Cannot use the store: it is closed");
  }

  #assertLocked(): void {
    const failure = this.#lock?.failure ?? null;
    if (failure !== null) throw new StoreWriteError(new Error(failure));
  }
}

/** A guard that also needs the lock. */
function guardOf(lock: DatabaseLock, health: WriteHealth): WriteGuard {
  return {
    get failure() {
      return lock.failure ?? health.failure;
    },
    check() {
      if (lock.failure !== null) throw storageUnavailable();
      return health.check();
    },
  };
}
