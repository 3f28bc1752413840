/**
 * Decides commits in the Deno KV engine. The order is: repeat of the operation, checks, jobs to complete or postpone,
 * new ledger entries, new jobs, balances. Balances are last because a repeated capture also lacks the held money, and
 * must be refused as a duplicate. A completed job makes room for a new job of the same kind and ref in the same commit.
 */
import type { Change, ReadKey, Transaction, WriteSet } from "./transaction.ts";
import {
  balanceKey,
  dueKey,
  jobKey,
  type JobRecord,
  ledgerEntryKey,
  operationKey,
  referenceKey,
  valueKey,
} from "./keys.ts";
import type { Money } from "../../lib/basics/money.ts";
import { changedBalance, isShort, withOverdraft } from "../balance_change.ts";
import { measureCommit } from "../commit_size.ts";
import { encodeKey } from "../key_encoding.ts";
import { ledgerEntryIdOf } from "../ledger_entry_id.ts";
import { KV_LIMITS } from "./limits.ts";
import {
  type Balance,
  type BalanceChange,
  type Commit,
  type CommitResult,
  type Job,
  type Key,
  type LedgerEntry,
  OPERATION_TTL_MS,
} from "../store.ts";
import { newSortableId } from "../../lib/basics/ids.ts";

/** A caller's value as it is stored, with the end of its time to live if it has one. */
export type StoredValue = readonly [value: unknown, expiresAt?: number];

/**
 * The balance of an account as it is stored; `entryCount` is the number of its ledger entries. Without an overdraft the
 * last element is absent, as in records from before there were overdrafts.
 */
export type StoredBalance = readonly [available: bigint, held: bigint, entryCount: number, overdraft?: bigint];

/** A stored balance as the store gives it; zero if there is none. */
export function readStoredBalance(stored: StoredBalance | null | undefined): Balance {
  if (!stored) return { available: 0n, held: 0n };
  const [available, held, , overdraft] = stored;
  return overdraft === undefined ? { available, held } : { available, held, overdraft };
}

function storedBalanceOf({ available, held, overdraft }: Balance, entryCount: number): StoredBalance {
  return overdraft === undefined ? [available, held, entryCount] : [available, held, entryCount, overdraft];
}

/** A ledger entry as it is stored. */
export type StoredLedgerTuple = readonly [
  operation: string,
  reference: string,
  available: bigint,
  held: bigint,
  at: number,
  detail: unknown,
];

/** Whether the time to live of a stored value has ended. */
export function isExpired([, expiresAt]: StoredValue, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/**
 * A commit as a transaction. Its values are copied at once.
 *
 * @param now Reads the store's clock, in Unix milliseconds.
 * @param generation The generation of this process; its leases belong to it.
 * @throws {RangeError} If a value, a key or the whole commit exceeds the limits.
 * @throws {TypeError} If a value has no structured clone.
 */
export function commitTransaction(
  operation: string | null,
  original: Commit,
  now: () => number,
  generation: number,
): Transaction<CommitResult> {
  const { commit, size } = measureCommit(operation, original, KV_LIMITS);
  return {
    reads: readsOf(operation, commit),
    size,
    decide(writes) {
      return new Decision(writes, commit, now(), generation).run(operation);
    },
  };
}

function readsOf(operation: string | null, commit: Commit): ReadKey[] {
  const reads = new Map<string, ReadKey>();
  const addRead = (key: Key, isAssumedAbsent: boolean) => {
    const id = encodeKey(key);
    reads.set(id, { id, key, isAssumedAbsent: isAssumedAbsent && (reads.get(id)?.isAssumedAbsent ?? true) });
  };
  if (operation !== null) addRead(operationKey(operation), true);
  for (const { key, version } of commit.check ?? []) addRead(valueKey(key), version === null);
  for (const { kind, ref } of commit.completeJobs ?? []) addRead(jobKey(kind, ref), false);
  for (const { job } of commit.postponeJobs ?? []) addRead(jobKey(job.kind, job.ref), false);
  for (const entry of commit.ledgerEntries ?? []) {
    addRead(referenceKey(entry.operation, entry.reference), true);
    addRead(balanceKey(entry.account), false);
  }
  for (const { kind, ref } of commit.addJobs ?? []) addRead(jobKey(kind, ref), true);
  for (const { account } of commit.changeBalances ?? []) addRead(balanceKey(account), false);
  for (const { account } of commit.setOverdrafts ?? []) addRead(balanceKey(account), false);
  return [...reads.values()];
}

type Refusal = Extract<CommitResult, { ok: false }>;

/** The decision on one commit. Each part returns the index that is refused, or -1, and writes its changes. */
class Decision {
  constructor(
    private readonly writes: WriteSet,
    private readonly commit: Commit,
    private readonly now: number,
    private readonly generation: number,
  ) {}

  run(operation: string | null): ReturnType<Transaction<CommitResult>["decide"]> {
    if (operation !== null && this.#isRepeat(operation)) return refused({ ok: true, replayed: true });
    const refusal = this.#refusal();
    if (refusal) return refused(refusal);
    const written = this.#write();
    if (operation !== null) {
      this.writes.put(operationKey(operation), this.now + OPERATION_TTL_MS, {
        collectAfterMs: collectAfterMs(OPERATION_TTL_MS),
      });
    }
    return {
      accepted: true,
      result: (versionOf) => ({ ok: true, replayed: false, versions: written.map(versionOf) }),
    };
  }

  #isRepeat(operation: string): boolean {
    const stored = this.writes.read(operationKey(operation));
    return stored.version !== null && (stored.value as number) > this.now;
  }

  #refusal(): Refusal | null {
    const {
      check = [],
      completeJobs = [],
      postponeJobs = [],
      ledgerEntries = [],
      addJobs = [],
      changeBalances = [],
    } = this.commit;
    return refusalAt("conflict", check.findIndex(({ key, version }) => this.#versionOf(key) !== version)) ??
      refusalAt("fenced", completeJobs.findIndex((job) => !this.#complete(job))) ??
      refusalAt("fenced", postponeJobs.findIndex(({ job, dueAt, attempt }) => !this.#postpone(job, dueAt, attempt))) ??
      refusalAt("duplicate", ledgerEntries.findIndex((entry) => !this.#addLedgerEntry(entry))) ??
      refusalAt("duplicate", addJobs.findIndex(({ kind, ref, dueAt }) => !this.#addJob(kind, ref, dueAt))) ??
      refusalAt("short", changeBalances.findIndex((change) => !this.#changeBalance(change)));
  }

  #versionOf(key: Key): string | null {
    const stored = this.writes.read(valueKey(key));
    return stored.version === null || isExpired(stored.value as StoredValue, this.now) ? null : stored.version;
  }

  #complete(job: Job): boolean {
    const record = this.#leased(job);
    if (!record) return false;
    this.writes.remove(dueKey(job.kind, record));
    this.writes.remove(jobKey(job.kind, job.ref));
    return true;
  }

  #postpone(job: Job, dueAt: number, attempt: number): boolean {
    const record = this.#leased(job);
    if (!record) return false;
    this.writes.remove(dueKey(job.kind, record));
    this.#schedule(job.kind, job.ref, { id: record.id, epoch: record.epoch, attempt, dueAt, generation: 0 });
    return true;
  }

  #leased(job: Job): JobRecord | null {
    const record = this.writes.read(jobKey(job.kind, job.ref)).value as JobRecord | undefined;
    const isOwn = record?.id === job.id && record.epoch === job.epoch && record.generation === this.generation;
    return isOwn ? record : null;
  }

  #addLedgerEntry(entry: LedgerEntry): boolean {
    const reference = referenceKey(entry.operation, entry.reference);
    if (this.writes.read(reference).version !== null) return false;
    this.writes.put(reference, true);
    const before = this.#storedBalance(entry.account);
    const entryCount = before?.[2] ?? 0;
    this.writes.put(balanceKey(entry.account), storedBalanceOf(readStoredBalance(before), entryCount + 1));
    const stored: StoredLedgerTuple = [
      entry.operation,
      entry.reference,
      entry.available,
      entry.held,
      this.now,
      entry.detail,
    ];
    this.writes.put(ledgerEntryKey(entry.account, ledgerEntryIdOf(entryCount + 1)), stored);
    return true;
  }

  #addJob(kind: string, ref: string, dueAt: number): boolean {
    if (this.writes.read(jobKey(kind, ref)).version !== null) return false;
    this.#schedule(kind, ref, { id: newSortableId(this.now), epoch: 0, attempt: 0, dueAt, generation: 0 });
    return true;
  }

  #schedule(kind: string, ref: string, record: JobRecord): void {
    this.writes.put(jobKey(kind, ref), record);
    this.writes.put(dueKey(kind, record), ref);
    this.writes.wakeAt({ kind, dueAt: record.dueAt });
  }

  #changeBalance(change: BalanceChange): boolean {
    const stored = this.#storedBalance(change.account);
    const before = readStoredBalance(stored);
    if (isShort(before, change)) return false;
    this.writes.put(balanceKey(change.account), storedBalanceOf(changedBalance(before, change), stored?.[2] ?? 0));
    return true;
  }

  #setOverdraft(account: string, overdraft: Money): void {
    const stored = this.#storedBalance(account);
    const after = withOverdraft(readStoredBalance(stored), overdraft);
    this.writes.put(balanceKey(account), storedBalanceOf(after, stored?.[2] ?? 0));
  }

  #storedBalance(account: string): StoredBalance | undefined {
    return this.writes.read(balanceKey(account)).value as StoredBalance | undefined;
  }

  /** Returns the changes of `set`, in its order. */
  #write(): Change[] {
    for (const { account, overdraft } of this.commit.setOverdrafts ?? []) this.#setOverdraft(account, overdraft);
    const written = (this.commit.set ?? []).map(({ key, value, ttlMs, isReadByKey = true }) => {
      const options = isReadByKey ? {} : { isCached: false };
      if (ttlMs === undefined) return this.writes.put(valueKey(key), [value] satisfies StoredValue, options);
      const stored: StoredValue = [value, this.now + ttlMs];
      return this.writes.put(valueKey(key), stored, { ...options, collectAfterMs: collectAfterMs(ttlMs) });
    });
    for (const key of this.commit.delete ?? []) this.writes.remove(valueKey(key));
    return written;
  }
}

function refused(result: CommitResult): ReturnType<Transaction<CommitResult>["decide"]> {
  return { accepted: false, result: () => result };
}

function refusalAt(why: Refusal["why"], at: number): Refusal | null {
  return at < 0 ? null : { ok: false, why, at };
}

// Deno KV removes values by the system's clock, and readers use the store's clock. The extra day covers a clock that
// was set back.
function collectAfterMs(ttlMs: number): number {
  return Math.ceil(Math.max(ttlMs, 0)) + 24 * 3_600_000;
}
