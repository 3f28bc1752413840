import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import type { MetricFamily } from "../../src/platform/lib/basics/metric_family.ts";
import { newSortableId } from "../../src/platform/lib/basics/ids.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { WakeListeners } from "../../src/platform/store/wake_listeners.ts";
import { changedBalance, isShort, withOverdraft } from "../../src/platform/store/balance_change.ts";
import type { StoreEngine } from "../../src/platform/store/engine.ts";
import { type RateLimit, RateLimiter } from "../../src/platform/store/gcra.ts";
import { encodeKey, encodeStorableKey, isBelow } from "../../src/platform/store/key_encoding.ts";
import { ledgerEntryIdOf } from "../../src/platform/store/ledger_entry_id.ts";
import { measureCommit } from "../../src/platform/store/commit_size.ts";
import {
  type Balance,
  type BalanceChange,
  type Commit,
  type CommitResult,
  type Entry,
  type Job,
  type Key,
  type LedgerEntry,
  MIN_STORE_LIMITS,
  OPERATION_TTL_MS,
  type StoredLedgerEntry,
  type StoreLimits,
  type Version,
} from "../../src/platform/store/store.ts";
import { ClockRollbackDetector } from "../../src/platform/store/clock_rollback.ts";
import { type StoreTime, storeTimeOf } from "../../src/platform/store/store_time.ts";
import type { WriteGuard } from "../../src/platform/store/write_health.ts";

interface Value {
  readonly key: Key;
  readonly value: unknown;
  readonly version: Version;
  readonly expiresAt: number;
}

interface OpenJob extends Job {
  readonly leased: boolean;
}

/**
 * Opens a store in the memory of this process: for tests, and as the reference for the embedded engine. Every operation
 * is one synchronous step, so operations are serial.
 *
 * @param options.clock The clock of all due times, leases and expiries.
 */
export function openMemoryStore(options: { readonly clock: Clock }): Promise<StoreEngine> {
  return Promise.resolve(new MemoryStore(options.clock));
}

const { maxKeyBytes } = MIN_STORE_LIMITS;

class MemoryStore implements StoreEngine {
  readonly limits: StoreLimits = MIN_STORE_LIMITS;

  publishAddress(): Promise<void> {
    return Promise.resolve();
  }

  readonly #clock: Clock;
  readonly #wakes: WakeListeners;
  readonly #setBack: ClockRollbackDetector;
  readonly #buckets = new RateLimiter();
  readonly #values = new Map<string, Value>();
  /** The encoded keys of all values, sorted. */
  readonly #order: string[] = [];
  readonly #operations = new Map<string, number>();
  readonly #balances = new Map<string, Balance>();
  readonly #lines = new Map<string, StoredLedgerEntry[]>();
  readonly #references = new Set<string>();
  readonly #jobs = new Map<string, OpenJob>();
  #writes = 0;
  #isOpen = true;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#wakes = new WakeListeners(clock, silentLog);
    this.#setBack = new ClockRollbackDetector(clock);
  }

  metrics(): Promise<readonly MetricFamily[]> {
    return Promise.resolve([]);
  }

  now(): StoreTime {
    const now = storeTimeOf(this.#clock.now());
    const setBackMs = this.#setBack.takeRollbackMs();
    if (setBackMs > 0) this.#moveUp(now, setBackMs);
    return now;
  }

  async get<T = unknown>(keys: readonly Key[]): Promise<(Entry<T> | null)[]> {
    await this.#turn();
    return keys.map((key) => {
      const found = this.#found(encodeStorableKey(key, maxKeyBytes));
      return found && entryOf<T>(found);
    });
  }

  async scan<T = unknown>(
    prefix: Key,
    { after, limit, reverse = false }: { readonly after?: Key; readonly limit: number; readonly reverse?: boolean },
  ): Promise<Entry<T>[]> {
    await this.#turn();
    const below = encodeStorableKey(prefix, maxKeyBytes);
    const place = after && encodeStorableKey(after, maxKeyBytes);
    if (below === null || place === null) return [];
    const ids = this.#order.filter((id) => isBelow(id, below));
    if (reverse) ids.reverse();
    const isBeyond = (id: string) => place === undefined || (reverse ? id < place : id > place);
    const found = ids.filter(isBeyond).flatMap((id) => this.#found(id) ?? []);
    return found.slice(0, Math.max(limit, 0)).map((value) => entryOf<T>(value));
  }

  async commit(operation: string | null, original: Commit): Promise<CommitResult> {
    const { commit } = measureCommit(operation, original, this.limits);
    await this.#turn();
    const now = this.now();
    if (operation !== null && (this.#operations.get(operation) ?? 0) > now) return { ok: true, replayed: true };
    const refusal = this.#refusalOf(commit);
    if (refusal) return refusal;
    const versions = this.#apply(commit, now);
    if (operation !== null) this.#operations.set(operation, now + OPERATION_TTL_MS);
    return { ok: true, replayed: false, versions };
  }

  async balance(account: string): Promise<Balance> {
    await this.#turn();
    return this.#balances.get(account) ?? NOTHING;
  }

  async ledger(
    account: string,
    { after, limit, reverse = false }: { readonly after?: string; readonly limit: number; readonly reverse?: boolean },
  ): Promise<StoredLedgerEntry[]> {
    await this.#turn();
    const lines = [...this.#lines.get(account) ?? []];
    if (reverse) lines.reverse();
    const beyond = lines.filter(({ id }) => after === undefined || (reverse ? id < after : id > after));
    return beyond.slice(0, Math.max(limit, 0)).map((line) => structuredClone(line));
  }

  async claim(kinds: readonly string[], limit: number, leaseMs: number): Promise<Job[]> {
    await this.#turn();
    const now = this.now();
    const due = [...this.#jobs.values()].filter((job) => kinds.includes(job.kind) && job.dueAt <= now);
    due.sort((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1));
    return due.slice(0, Math.max(limit, 0)).map((job) => {
      const attempt = job.attempt + (job.leased ? 1 : 0);
      return this.#keep({ ...job, epoch: job.epoch + 1, attempt, dueAt: now + leaseMs, leased: true });
    });
  }

  async jobDueTimes(kind: string, refs: readonly string[]): Promise<(StoreTime | null)[]> {
    await this.#turn();
    const now = this.now();
    return refs.map((ref) => {
      const job = this.#jobs.get(nameOf({ kind, ref }));
      if (!job) return null;
      return storeTimeOf(job.leased ? Math.min(job.dueAt, now) : job.dueAt);
    });
  }

  async renew(jobs: readonly Job[], leaseMs: number): Promise<Job[]> {
    await this.#turn();
    return jobs.flatMap((job) => {
      const open = this.#leased(job);
      return open ? [this.#keep({ ...open, dueAt: this.now() + leaseMs })] : [];
    });
  }

  async take(bucket: string, terms: RateLimit): Promise<{ readonly ok: boolean; readonly waitMs: number }> {
    await this.#turn();
    return this.#buckets.take(bucket, this.now(), terms);
  }

  onWake(listener: (kind: string) => void): () => void {
    return this.#wakes.listen(listener);
  }

  async wakeOverdueJobs(): Promise<number> {
    await this.#turn();
    const now = this.now();
    const overdue = new Set([...this.#jobs.values()].filter(({ dueAt }) => dueAt <= now).map(({ kind }) => kind));
    for (const kind of overdue) this.#wakes.wake(kind);
    return overdue.size;
  }

  readonly writeGuard: WriteGuard = { failure: null, check() {} };

  isReady(): Promise<boolean> {
    return Promise.resolve(this.#isOpen);
  }

  close(): Promise<void> {
    this.#isOpen = false;
    this.#wakes.close();
    return Promise.resolve();
  }

  // Resolves in a later turn, as operations of an engine with I/O do.
  #turn(): Promise<void> {
    return this.#isOpen ? Promise.resolve() : Promise.reject(new Error("Cannot use the store: it is closed"));
  }

  #found(id: string | null): Value | null {
    const value = id === null ? undefined : this.#values.get(id);
    return value && value.expiresAt > this.now() ? value : null;
  }

  #refusalOf(commit: Commit): CommitResult | null {
    const {
      check = [],
      completeJobs: settle = [],
      postponeJobs: postpone = [],
      ledgerEntries: ledger = [],
      addJobs: add = [],
      changeBalances: move = [],
    } = commit;
    const versionOf = (key: Key) => this.#found(encodeKey(key))?.version ?? null;
    const ended = new Set<Job>(); // a worker completes or postpones a claimed job only once
    const isOwn = (job: Job) => {
      const open = this.#leased(job);
      return open !== null && !ended.has(open) && Boolean(ended.add(open));
    };
    return refusalAt("conflict", check.findIndex(({ key, version }) => versionOf(key) !== version)) ??
      refusalAt("fenced", settle.findIndex((job) => !isOwn(job))) ??
      refusalAt("fenced", postpone.findIndex(({ job }) => !isOwn(job))) ??
      refusalAt("duplicate", firstRepeat(ledger.map(referenceOf), (name) => this.#references.has(name))) ??
      refusalAt("duplicate", firstRepeat(add.map(nameOf), (name) => this.#isTaken(name, settle))) ??
      refusalAt("short", this.#firstShort(move));
  }

  #isTaken(name: string, settled: readonly Job[]): boolean {
    return this.#jobs.has(name) && !settled.some((job) => nameOf(job) === name);
  }

  #firstShort(moves: readonly BalanceChange[]): number {
    const after = new Map<string, Balance>();
    return moves.findIndex((move) => {
      const before = after.get(move.account) ?? this.#balances.get(move.account) ?? NOTHING;
      after.set(move.account, changedBalance(before, move));
      return isShort(before, move);
    });
  }

  /** Returns the versions of `set`, in its order. */
  #apply(commit: Commit, now: number): Version[] {
    const versions = (commit.set ?? []).map(({ key, value, ttlMs = Infinity }) => {
      const version = String(++this.#writes);
      this.#put(encodeKey(key), { key, value, version, expiresAt: now + ttlMs });
      return version;
    });
    for (const key of commit.delete ?? []) this.#remove(encodeKey(key));
    for (const job of commit.completeJobs ?? []) this.#jobs.delete(nameOf(job));
    for (const { job, dueAt, attempt } of commit.postponeJobs ?? []) {
      const { id, kind, ref, epoch } = job;
      this.#keep({ id, kind, ref, epoch, attempt, dueAt, leased: false });
    }
    for (const { kind, ref, dueAt } of commit.addJobs ?? []) {
      this.#keep({ id: newSortableId(now), kind, ref, epoch: 0, attempt: 0, dueAt, leased: false });
    }
    for (const line of commit.ledgerEntries ?? []) this.#enter(line, now);
    for (const move of commit.changeBalances ?? []) {
      this.#balances.set(move.account, changedBalance(this.#balances.get(move.account) ?? NOTHING, move));
    }
    for (const { account, overdraft } of commit.setOverdrafts ?? []) {
      this.#balances.set(account, withOverdraft(this.#balances.get(account) ?? NOTHING, overdraft));
    }
    for (const { kind, dueAt } of commit.addJobs ?? []) this.#wakes.wakeAt({ kind, dueAt });
    for (const { job, dueAt } of commit.postponeJobs ?? []) this.#wakes.wakeAt({ kind: job.kind, dueAt });
    return versions;
  }

  #moveUp(now: number, byMs: number): void {
    for (const [name, job] of this.#jobs) {
      if (job.dueAt <= now) continue;
      const moved = { ...job, dueAt: job.dueAt - byMs };
      this.#jobs.set(name, moved);
      this.#wakes.wakeAt(moved);
    }
  }

  #enter(line: LedgerEntry, now: number): void {
    this.#references.add(referenceOf(line));
    const lines = this.#lines.get(line.account) ?? [];
    this.#lines.set(line.account, lines);
    lines.push({ ...line, id: ledgerEntryIdOf(lines.length + 1), at: now });
  }

  #put(id: string, value: Value): void {
    if (!this.#values.has(id)) this.#order.splice(placeOf(id, this.#order), 0, id);
    this.#values.set(id, value);
  }

  #remove(id: string): void {
    if (this.#values.delete(id)) this.#order.splice(placeOf(id, this.#order), 1);
  }

  #keep(job: OpenJob): Job {
    this.#jobs.set(nameOf(job), job);
    const { leased: _, ...claimed } = job;
    return claimed;
  }

  #leased(job: Job): OpenJob | null {
    const open = this.#jobs.get(nameOf(job));
    return open && open.leased && open.id === job.id && open.epoch === job.epoch ? open : null;
  }
}

const NOTHING: Balance = { available: 0n, held: 0n };

function entryOf<T>({ key, value, version }: Value): Entry<T> {
  return { key: [...key], value: structuredClone(value) as T, version };
}

function refusalAt(why: "conflict" | "fenced" | "duplicate" | "short", at: number): CommitResult | null {
  return at < 0 ? null : { ok: false, why, at };
}

/** The index of the first name that exists already, in the store or earlier in the list. */
function firstRepeat(names: readonly string[], stands: (name: string) => boolean): number {
  return names.findIndex((name, i) => stands(name) || names.indexOf(name) < i);
}

function referenceOf({ operation, reference }: LedgerEntry): string {
  return JSON.stringify([operation, reference]);
}

function nameOf({ kind, ref }: { readonly kind: string; readonly ref: string }): string {
  return JSON.stringify([kind, ref]);
}

/** The index of an id in a sorted list, or where to insert it. */
function placeOf(id: string, sorted: readonly string[]): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? "") < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
