import type { Money } from "../lib/money.ts";

/**
 * The key of a value. Keys are ordered part by part, numbers before text. The first part names the capability that owns the
 * value. An encoded key has at most {@linkcode StoreLimits.maxKeyBytes}.
 */
export type Key = readonly (string | number)[];

/**
 * The version of the value under one key: an opaque text of the engine. Every write gives the key a version that it never had
 * before, also a write of an equal value. Versions of different keys are not comparable and have no order.
 */
export type Version = string;

/** What a read found. */
export interface Entry<T = unknown> {
  /** The whole key, prefix included. */
  readonly key: Key;
  /** A copy: changing it changes nothing in the store. */
  readonly value: T;
  /** For {@linkcode Commit.check}, so that a commit fails when the value has changed since. */
  readonly version: Version;
}

/**
 * Work that is owed. `(kind, ref)` is unique among open jobs; `epoch` rises with every claim and fences late workers.
 */
export interface Job {
  /** Given by the store when the job is added. */
  readonly id: string;
  /** Which work it is; workers claim by it. */
  readonly kind: string;
  /** What the work is about, such as a task's id. */
  readonly ref: string;
  /** 0 until the first claim. A commit that settles or postpones under an older one is refused. */
  readonly epoch: number;
  /** How often it was claimed before and neither settled nor put off by its worker, from 0. */
  readonly attempt: number;
  /** Unix milliseconds: when it is due, or, once claimed, when the lease on it ends. */
  readonly dueAt: number;
}

/** A movement on one account. A side that would fall below zero refuses the whole commit, unless `overdraw` is set. */
export interface BalanceChange {
  /** The account whose balance changes, by its id. */
  readonly account: string;
  /** Added to what the account can spend; negative takes away. */
  readonly available: Money;
  /** Added to what is set aside; negative takes away. */
  readonly held: Money;
  /** For what was already consumed and must be charged: `available` may fall below zero. `held` never may. */
  readonly overdraw?: boolean;
}

/** One line of the append-only ledger. `(operation, reference)` is unique for ever. */
export interface LedgerEntry {
  /** The account whose money moved, by its id. */
  readonly account: string;
  /** `credit`, `adjust`, `charge`, `hold`, `capture`, `release`. */
  readonly operation: string;
  /** What caused it: a request id, a task id. */
  readonly reference: string;
  /** What it added to `available` (negative: took away). */
  readonly available: Money;
  /** What it added to `held`. */
  readonly held: Money;
  /** More about it, stored as it is; small. */
  readonly detail?: unknown;
}

/** A ledger line as it was stored. */
export interface StoredLedgerEntry extends LedgerEntry {
  /** Sorts by the order of commits within one account. */
  readonly id: string;
  /** Unix milliseconds by the store's clock. */
  readonly at: number;
}

/** An account's money. */
export interface Balance {
  /** What can be spent; below zero only by an `overdraw`. */
  readonly available: Money;
  /** What is set aside for work under way; never below zero. */
  readonly held: Money;
}

/** What one commit does: all of it, durable when it resolves, or nothing. */
export interface Commit {
  /** Keys whose version must be as said; null: must not exist. */
  readonly check?: readonly { readonly key: Key; readonly version: Version | null }[];
  /** Values, each of at most {@linkcode StoreLimits.maxValueBytes}. `ttlMs`: unreadable from then on. */
  readonly set?: readonly { readonly key: Key; readonly value: unknown; readonly ttlMs?: number }[];
  /** Keys to forget; one that holds nothing is passed over. */
  readonly delete?: readonly Key[];
  /** Movements of money; refused as `short` when a side would fall below zero. */
  readonly changeBalances?: readonly BalanceChange[];
  /** Lines to append; refused as `duplicate` when one with that operation and reference stands. */
  readonly ledgerEntries?: readonly LedgerEntry[];
  /** New jobs; refused as `duplicate` when one with that kind and ref is open. */
  readonly addJobs?: readonly { readonly kind: string; readonly ref: string; readonly dueAt: number }[];
  /** Claimed jobs that are finished; refused as `fenced` when the epoch is not the job's own any more. */
  readonly completeJobs?: readonly Job[];
  /** Claimed jobs to do again at an instant, with `attempt` as given; fenced alike. */
  readonly postponeJobs?: readonly { readonly job: Job; readonly dueAt: number; readonly attempt: number }[];
}

/**
 * The result of a commit.
 *
 * - `ok` and not `replayed`: everything was written. `versions` has one version for each entry of `set`, in its order. An entry
 *   whose value was replaced or deleted again, also by the same commit, has a version that no check accepts.
 * - `ok` and `replayed`: an earlier commit with the operation name was made; this one wrote nothing.
 * - `conflict`: a check failed. `short`: a move would take a balance below zero. `fenced`: a job is no longer the worker's.
 *   `duplicate`: the ledger entry or the job exists. `at` is the index of the refused element in its list.
 */
export type CommitResult =
  | { readonly ok: true; readonly replayed: false; readonly versions: readonly Version[] }
  | { readonly ok: true; readonly replayed: true }
  | { readonly ok: false; readonly why: "conflict" | "short" | "fenced" | "duplicate"; readonly at: number };

/**
 * What an engine takes. Every engine takes at least {@linkcode MIN_STORE_LIMITS}; callers that could exceed that read the
 * limits of their store.
 */
export interface StoreLimits {
  /** Bytes of one value after serialisation. */
  readonly maxValueBytes: number;
  /** Bytes of one encoded key. */
  readonly maxKeyBytes: number;
  /** Different keys, jobs, ledger entries and accounts that one commit checks. */
  readonly maxChecks: number;
  /** Writes of one commit. A set or a delete is one; every other part of a commit is at most four. */
  readonly maxWrites: number;
  /** Bytes of all keys and values of one commit. */
  readonly maxCommitBytes: number;
  /** Bytes of all keys of one commit. */
  readonly maxCommitKeyBytes: number;
  /** Keys that one `get` reads as of one instant. A `get` of more keys is several reads. */
  readonly maxKeysPerRead: number;
}

/** Limits that every engine has at least, so that code below them does not have to look. */
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
 * The narrow port to everything durable. Two engines fulfil it, and one suite of laws (`tests/contract/store.ts`) holds
 * both to it. Values go through structured clone: plain objects, arrays, bigint, Uint8Array, Date.
 */
export interface Store {
  /** What the engine takes; they never change while it is open. */
  readonly limits: StoreLimits;
  /** The engine's clock in Unix milliseconds: due times, leases and expiries are compared to it. */
  now(): number;
  /** Linearizable; the answers stand in the order of the keys. */
  get<T = unknown>(keys: readonly Key[]): Promise<(Entry<T> | null)[]>;
  /** Entries below a prefix in key order. `after`: start behind this full key (before it when `reverse`). */
  scan<T = unknown>(
    prefix: Key,
    options: { readonly after?: Key; readonly limit: number; readonly reverse?: boolean },
  ): Promise<Entry<T>[]>;
  /**
   * Does all of a commit or nothing; resolves once it is durable, or refused. The result has the versions of what was written,
   * so a caller that goes on with a value does not read it again; see `writtenVersion`.
   *
   * @param operation Names the commit for 24 hours, so that a repeat after an unknown result changes nothing and
   * answers `{ok: true, replayed: true}`; null for a commit that is never repeated.
   * @throws {RangeError} If a value, a key or the whole is larger than the engine takes; nothing is then done.
   */
  commit(operation: string | null, commit: Commit): Promise<CommitResult>;
  /** An account's money; zero for one that was never moved. */
  balance(account: string): Promise<Balance>;
  /** Ledger lines of an account, oldest first; newest first when `reverse`. `after`: the id to start behind. */
  ledger(
    account: string,
    options: { readonly after?: string; readonly limit: number; readonly reverse?: boolean },
  ): Promise<StoredLedgerEntry[]>;
  /** Due jobs of these kinds, oldest first; each comes with `epoch` one higher and `dueAt` = now + `leaseMs`. */
  claim(kinds: readonly string[], limit: number, leaseMs: number): Promise<Job[]>;
  /**
   * When open jobs of a kind are due, in the order of the refs: now for one that is claimed, null where none is open.
   */
  jobDueTimes(kind: string, refs: readonly string[]): Promise<(number | null)[]>;
  /** Moves the ends of leases to now + `leaseMs`; gives the jobs that are still the caller's, renewed. */
  renew(jobs: readonly Job[], leaseMs: number): Promise<Job[]>;
  /**
   * A rate limit by the generic cell rate algorithm: `cost` from a bucket that earns one unit in `perMs` and holds
   * `burst`. Not durable. `waitMs` is enough: whoever waits that long is not refused for having come too early.
   */
  take(
    bucket: string,
    options: { readonly perMs: number; readonly burst: number; readonly cost: number },
  ): Promise<{ readonly ok: boolean; readonly waitMs: number }>;
  /** "Jobs of this kind may be due": may be lost, late or spurious. Gives the way to stop listening. */
  onWake(listener: (kind: string) => void): () => void;
  /** Finishes commits under way, then lets go of the engine. Later calls reject. */
  close(): Promise<void>;
}
