import type { Money } from "../lib/basics/money.ts";
import type { StoreTime } from "./store_time.ts";

/**
 * The key of a value. Keys are ordered part by part, numbers before text. The first part names the owner of the value,
 * such as `billing`. An encoded key has at most {@linkcode StoreLimits.maxKeyBytes}.
 */
export type Key = readonly (string | number)[];

/**
 * The version of the value under one key, an opaque text of the engine. Every write gives the key a version that it
 * never had before, also a write of an equal value. Versions have no order, and those of different keys cannot be
 * compared.
 */
export type Version = string;

/** A value as it was read. */
export interface Entry<T = unknown> {
  /** The whole key, prefix included. */
  readonly key: Key;
  /** A copy: changes to it do not reach the store. */
  readonly value: T;
  /** For {@linkcode Commit.check}: the commit is refused if the value has changed since. */
  readonly version: Version;
}

/**
 * Work to be done. `(kind, ref)` is unique among open jobs. `epoch` increases with every claim and refuses the writes
 * of late workers.
 */
export interface Job {
  /** Assigned by the store when the job is added. */
  readonly id: string;
  /** The kind of work; workers claim by it. */
  readonly kind: string;
  /** The object of the work, such as a task's id. */
  readonly ref: string;
  /** 0 until the first claim. A commit that completes or postpones the job with an older epoch is refused. */
  readonly epoch: number;
  /** The number of earlier claims that ended without the job being completed or postponed. */
  readonly attempt: number;
  /** Unix milliseconds: when the job is due or, after a claim, when its lease ends. */
  readonly dueAt: number;
}

/**
 * A change of one account's balance. The whole commit is refused if a side would fall below zero, or `available` below
 * minus the account's overdraft, unless `overdraw` is set.
 */
export interface BalanceChange {
  /** The account's id. */
  readonly account: string;
  /** Added to the available balance; a negative amount is subtracted. */
  readonly available: Money;
  /** Added to the held balance; a negative amount is subtracted. */
  readonly held: Money;
  /** Lets `available` fall without limit, for charges of what was already consumed. `held` never falls below zero. */
  readonly overdraw?: boolean;
}

/** An entry of the append-only ledger. `(operation, reference)` is unique forever. */
export interface LedgerEntry {
  /** The account's id. */
  readonly account: string;
  /** `credit`, `adjust`, `charge`, `hold`, `capture` or `release`. */
  readonly operation: string;
  /** The cause: a request id, a task id. */
  readonly reference: string;
  /** The change of the available balance. */
  readonly available: Money;
  /** The change of the held balance. */
  readonly held: Money;
  /** Further facts, stored unchanged; small. */
  readonly detail?: unknown;
}

/** A ledger entry as it was stored. */
export interface StoredLedgerEntry extends LedgerEntry {
  /** Sorts in the order of commits within one account. */
  readonly id: string;
  /** Unix milliseconds by the store's clock. */
  readonly at: number;
}

/** An account's money. */
export interface Balance {
  /** Can be spent; below minus `overdraft` only after an `overdraw`. */
  readonly available: Money;
  /** Reserved for work in progress; never below zero. */
  readonly held: Money;
  /** How far `available` may fall below zero. Absent: not at all. */
  readonly overdraft?: Money;
}

/** A value that a commit writes. */
export interface NewValue {
  /** Where it is written. */
  readonly key: Key;
  /** At most {@linkcode StoreLimits.maxValueBytes}. */
  readonly value: unknown;
  /** The value cannot be read after this time. Default: it has no end. */
  readonly ttlMs?: number;
  /** False for one of many values that are only scanned, so that an engine does not cache it. Default: true. */
  readonly isReadByKey?: boolean;
}

/** A transaction: all of it is durable when the commit resolves, or nothing is written. */
export interface Commit {
  /** The versions that keys must have; null: the key must not exist. */
  readonly check?: readonly { readonly key: Key; readonly version: Version | null }[];
  /** Values to write. */
  readonly set?: readonly NewValue[];
  /** Keys to delete; a key without a value is ignored. */
  readonly delete?: readonly Key[];
  /** Changes of balances; refused as `short` if a side would fall below its limit. */
  readonly changeBalances?: readonly BalanceChange[];
  /** How far balances may fall below zero from the next commit on; never negative. */
  readonly setOverdrafts?: readonly { readonly account: string; readonly overdraft: Money }[];
  /** Ledger entries to append; refused as `duplicate` if the operation and reference exist. */
  readonly ledgerEntries?: readonly LedgerEntry[];
  /** Jobs to add; refused as `duplicate` if a job of that kind and ref is open. */
  readonly addJobs?: readonly { readonly kind: string; readonly ref: string; readonly dueAt: StoreTime }[];
  /** Claimed jobs that are finished; refused as `fenced` if the job has a newer epoch or is closed. */
  readonly completeJobs?: readonly Job[];
  /** Claimed jobs to run again at `dueAt` with this `attempt`; refused as `fenced` in the same way. */
  readonly postponeJobs?: readonly { readonly job: Job; readonly dueAt: StoreTime; readonly attempt: number }[];
}

/**
 * The result of a commit.
 *
 * - `ok` and not `replayed`: everything was written. `versions` has the version of each entry of `set`, in its order.
 *   If a value was replaced or deleted again, also by the same commit, its version is one that no check accepts.
 * - `ok` and `replayed`: an earlier commit had the same operation name; this commit wrote nothing.
 * - `conflict`: a check failed. `short`: a balance would fall below its limit. `fenced`: the worker does not hold the
 *   job any more. `duplicate`: the ledger entry or the job exists. `at` is the index of the refused element in its
 *   list.
 */
export type CommitResult =
  | { readonly ok: true; readonly replayed: false; readonly versions: readonly Version[] }
  | { readonly ok: true; readonly replayed: true }
  | { readonly ok: false; readonly why: "conflict" | "short" | "fenced" | "duplicate"; readonly at: number };

/** How long the operation name of a commit is stored, in milliseconds. */
export const OPERATION_TTL_MS = 24 * 3_600_000;

/**
 * The limits of an engine. Every engine takes at least {@linkcode MIN_STORE_LIMITS}; a caller that may need more reads
 * the limits of its store.
 */
export interface StoreLimits {
  /** Bytes of one value after serialisation. */
  readonly maxValueBytes: number;
  /** Bytes of one encoded key. */
  readonly maxKeyBytes: number;
  /** Different keys, jobs, ledger entries and accounts that one commit checks. */
  readonly maxChecks: number;
  /** Writes of one commit. A set or a delete counts as one, any other part of a commit as up to four. */
  readonly maxWrites: number;
  /** Bytes of all keys and values of one commit. */
  readonly maxCommitBytes: number;
  /** Bytes of all keys of one commit. */
  readonly maxCommitKeyBytes: number;
  /** Keys that one `get` reads at one instant. A `get` of more keys makes several reads. */
  readonly maxKeysPerRead: number;
}

/** The limits that every engine has at least. */
export const MIN_STORE_LIMITS: StoreLimits = {
  maxValueBytes: 60 * 1024,
  maxKeyBytes: 1024,
  maxChecks: 100,
  maxWrites: 900,
  maxCommitBytes: 700 * 1024,
  maxCommitKeyBytes: 72 * 1024,
  maxKeysPerRead: 10,
};

/**
 * The port to all records: values, balances and the ledger. A commit also adds, completes and postpones jobs, so that a
 * task and its job share one. Values must have a structured clone: plain objects, arrays, bigint, Uint8Array, Date. The
 * contract tests in `tests/contract/store.ts` run over every engine.
 */
export interface Store {
  /** The limits of the engine. They do not change while it is open. */
  readonly limits: StoreLimits;
  /** The engine's clock in Unix milliseconds. Due times, leases and expiries are compared to it. */
  now(): StoreTime;
  /** Reads values. Linearizable; the results are in the order of the keys, null for a key without a value. */
  get<T = unknown>(keys: readonly Key[]): Promise<(Entry<T> | null)[]>;
  /** Lists entries below a prefix in key order. `after`: start after this full key, or before it with `reverse`. */
  scan<T = unknown>(
    prefix: Key,
    options: { readonly after?: Key | undefined; readonly limit: number; readonly reverse?: boolean },
  ): Promise<Entry<T>[]>;
  /**
   * Makes a commit or refuses it as a whole. The result has the versions of what was written, so that the caller need
   * not read its own writes; see `writtenVersion`.
   *
   * @param operation A name for the commit, stored for 24 hours: a repeat after an unknown result writes nothing and
   * returns `{ok: true, replayed: true}`. Null for a commit that is never repeated.
   * @throws {RangeError} If a value, a key or the whole commit exceeds the limits; nothing is written.
   */
  commit(operation: string | null, commit: Commit): Promise<CommitResult>;
  /** An account's money; zero for an unknown account. */
  balance(account: string): Promise<Balance>;
  /**
   * Lists ledger entries of an account, oldest first, or newest first with `reverse`. `after`: the id to start after.
   */
  ledger(
    account: string,
    options: { readonly after?: string | undefined; readonly limit: number; readonly reverse?: boolean },
  ): Promise<StoredLedgerEntry[]>;
  /**
   * Takes `cost` units from a bucket that gains one unit every `perMs` and holds `burst`, by the generic cell rate
   * algorithm. Not durable. The same request is not refused again after `waitMs`.
   */
  take(
    bucket: string,
    options: { readonly perMs: number; readonly burst: number; readonly cost: number },
  ): Promise<{ readonly ok: boolean; readonly waitMs: number }>;
}

/**
 * The port to records and to the work that is due. The main thread runs all jobs, so a thread that answers requests has
 * a {@linkcode Store}.
 */
export interface JobStore extends Store {
  /**
   * The duration of the leases of jobs, in milliseconds, if processes share the store: the jobs of one that was killed
   * are due when their leases end. Absent for an engine of one process, whose open frees all leases.
   */
  readonly jobLeaseMs?: number;
  /**
   * Claims due jobs of these kinds, oldest first. Each has its `epoch` increased by one and `dueAt` = now + `leaseMs`.
   */
  claim(kinds: readonly string[], limit: number, leaseMs: number): Promise<Job[]>;
  /**
   * When open jobs of a kind are due, in the order of the refs: now for a claimed job, null for one that is not open.
   */
  jobDueTimes(kind: string, refs: readonly string[]): Promise<(StoreTime | null)[]>;
  /** Extends leases to now + `leaseMs`. Returns the jobs that the caller still holds, with their new `dueAt`. */
  renew(jobs: readonly Job[], leaseMs: number): Promise<Job[]>;
  /**
   * Calls the listener when jobs of a kind may be due. Calls may be lost, late or without cause. Returns a function
   * that removes the listener.
   */
  onWake(listener: (kind: string) => void): () => void;
  /**
   * Calls the listeners of {@linkcode JobStore.onWake} in the other processes that share the store. May be lost. Absent
   * for an engine of one process.
   */
  announce?(kind: string): void;
}
