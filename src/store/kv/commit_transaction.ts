/**
 * How the embedded engine decides a commit. The parts are asked in this order: is it a repeat, do its checks hold, are
 * its jobs still the worker's, are its ledger lines and jobs new, is there the money. Money comes last, since a
 * capture that was made before lacks the held money, too, and is better told what it is. A job that the commit
 * settles makes room for one of the same kind and ref that it adds.
 */
import type { Change, ReadKey, Transaction, WriteSet } from "./transaction.ts";
import {
  balanceKey,
  dueKey,
  encodeKey,
  jobKey,
  type JobRecord,
  ledgerEntryIdOf,
  ledgerEntryKey,
  operationKey,
  referenceKey,
  valueKey,
} from "./keys.ts";
import { KV_LIMITS, measureCommit } from "../commit_size.ts";
import type { Balance, BalanceChange, Commit, CommitResult, Job, Key, LedgerEntry } from "../store.ts";
import { newSortableId } from "../../lib/ids.ts";

/** How long a commit's name is remembered. Source: the port, `commit`. */
export const OPERATION_TTL_MS = 24 * 3_600_000;

/** How a caller's value is stored: the value, and when it ends, if it does. */
export type StoredValue = readonly [value: unknown, expiresAt?: number];

/** How an account is stored. */
export type StoredBalance = readonly [available: bigint, held: bigint, lines: number];

/** How a ledger line is stored. */
export type StoredLedgerTuple = readonly [
  operation: string,
  reference: string,
  available: bigint,
  held: bigint,
  at: number,
  detail: unknown,
];

/** Whether a stored value is past its time. */
export function isExpired([, expiresAt]: StoredValue, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/** Whether a move takes a side below zero. One that adds to a side is let through, also where debt remains. */
export function isShort(before: Balance, move: BalanceChange): boolean {
  const available = before.available + move.available;
  const held = before.held + move.held;
  return (available < 0n && move.available < 0n && !move.overdraw) || (held < 0n && move.held < 0n);
}

/**
 * A commit as a proposal. Its values are copied at once.
 *
 * @param now Reads the store's clock, in Unix milliseconds.
 * @param generation The open of the database that leases belong to.
 * @throws {RangeError} If a value, a key or the whole is larger than the engine takes.
 * @throws {TypeError} If a value has no structured clone.
 */
export function commitTransaction(
  operation: string | null,
  original: Commit,
  now: () => number,
  generation: number,
): Transaction<CommitResult> {
  const { commit, size: weight } = measureCommit(operation, original, KV_LIMITS);
  return {
    reads: touchesOf(operation, commit),
    size: weight,
    decide(draft) {
      return new Decision(draft, commit, now(), generation).take(operation);
    },
  };
}

function touchesOf(operation: string | null, commit: Commit): ReadKey[] {
  const touches = new Map<string, ReadKey>();
  const touch = (key: Key, presumedAbsent: boolean) => {
    const id = encodeKey(key);
    touches.set(id, { id, key, isAssumedAbsent: presumedAbsent && (touches.get(id)?.isAssumedAbsent ?? true) });
  };
  if (operation !== null) touch(operationKey(operation), true);
  for (const { key, version } of commit.check ?? []) touch(valueKey(key), version === null);
  for (const { kind, ref } of commit.completeJobs ?? []) touch(jobKey(kind, ref), false);
  for (const { job } of commit.postponeJobs ?? []) touch(jobKey(job.kind, job.ref), false);
  for (const line of commit.ledgerEntries ?? []) {
    touch(referenceKey(line.operation, line.reference), true);
    touch(balanceKey(line.account), false);
  }
  for (const { kind, ref } of commit.addJobs ?? []) touch(jobKey(kind, ref), true);
  for (const { account } of commit.changeBalances ?? []) touch(balanceKey(account), false);
  return [...touches.values()];
}

type Refusal = Extract<CommitResult, { ok: false }>;

/** One commit being decided: each part gives the place that refuses, or -1, and writes what it does. */
class Decision {
  constructor(
    private readonly draft: WriteSet,
    private readonly commit: Commit,
    private readonly now: number,
    private readonly generation: number,
  ) {}

  take(operation: string | null): ReturnType<Transaction<CommitResult>["decide"]> {
    if (operation !== null && this.#isRepeat(operation)) return refused({ ok: true, replayed: true });
    const refusal = this.#refusal();
    if (refusal) return refused(refusal);
    const written = this.#write();
    if (operation !== null) {
      this.draft.put(operationKey(operation), this.now + OPERATION_TTL_MS, collectAfterMs(OPERATION_TTL_MS));
    }
    return {
      accepted: true,
      result: (versionOf) => ({ ok: true, replayed: false, versions: written.map(versionOf) }),
    };
  }

  #isRepeat(operation: string): boolean {
    const slot = this.draft.read(operationKey(operation));
    return slot.version !== null && (slot.value as number) > this.now;
  }

  #refusal(): Refusal | null {
    const {
      check = [],
      completeJobs: settle = [],
      postponeJobs: postpone = [],
      ledgerEntries: ledger = [],
      addJobs: add = [],
      changeBalances: move = [],
    } = this.commit;
    return refusalAt("conflict", check.findIndex(({ key, version }) => this.#versionOf(key) !== version)) ??
      refusalAt("fenced", settle.findIndex((job) => !this.#settle(job))) ??
      refusalAt("fenced", postpone.findIndex(({ job, dueAt, attempt }) => !this.#postpone(job, dueAt, attempt))) ??
      refusalAt("duplicate", ledger.findIndex((line) => !this.#enter(line))) ??
      refusalAt("duplicate", add.findIndex(({ kind, ref, dueAt }) => !this.#add(kind, ref, dueAt))) ??
      refusalAt("short", move.findIndex((one) => !this.#move(one)));
  }

  #versionOf(key: Key): string | null {
    const slot = this.draft.read(valueKey(key));
    return slot.version === null || isExpired(slot.value as StoredValue, this.now) ? null : slot.version;
  }

  #settle(job: Job): boolean {
    const record = this.#leased(job);
    if (!record) return false;
    this.draft.remove(dueKey(job.kind, record));
    this.draft.remove(jobKey(job.kind, job.ref));
    return true;
  }

  #postpone(job: Job, dueAt: number, attempt: number): boolean {
    const record = this.#leased(job);
    if (!record) return false;
    this.draft.remove(dueKey(job.kind, record));
    this.#schedule(job.kind, job.ref, { id: record.id, epoch: record.epoch, attempt, dueAt, generation: 0 });
    return true;
  }

  #leased(job: Job): JobRecord | null {
    const record = this.draft.read(jobKey(job.kind, job.ref)).value as JobRecord | undefined;
    const isOwn = record?.id === job.id && record.epoch === job.epoch && record.generation === this.generation;
    return isOwn ? record : null;
  }

  #enter(line: LedgerEntry): boolean {
    const reference = referenceKey(line.operation, line.reference);
    if (this.draft.read(reference).version !== null) return false;
    this.draft.put(reference, true);
    const [available, held, lines] = this.#balance(line.account);
    this.draft.put(balanceKey(line.account), [available, held, lines + 1] satisfies StoredBalance);
    const stored: StoredLedgerTuple = [
      line.operation,
      line.reference,
      line.available,
      line.held,
      this.now,
      line.detail,
    ];
    this.draft.put(ledgerEntryKey(line.account, ledgerEntryIdOf(lines + 1)), stored);
    return true;
  }

  #add(kind: string, ref: string, dueAt: number): boolean {
    if (this.draft.read(jobKey(kind, ref)).version !== null) return false;
    this.#schedule(kind, ref, { id: newSortableId(this.now), epoch: 0, attempt: 0, dueAt, generation: 0 });
    return true;
  }

  #schedule(kind: string, ref: string, record: JobRecord): void {
    this.draft.put(jobKey(kind, ref), record);
    this.draft.put(dueKey(kind, record), ref);
    this.draft.wakeAt({ kind, dueAt: record.dueAt });
  }

  #move(move: BalanceChange): boolean {
    const [available, held, lines] = this.#balance(move.account);
    if (isShort({ available, held }, move)) return false;
    const after: StoredBalance = [available + move.available, held + move.held, lines];
    this.draft.put(balanceKey(move.account), after);
    return true;
  }

  #balance(account: string): StoredBalance {
    return (this.draft.read(balanceKey(account)).value as StoredBalance | undefined) ?? [0n, 0n, 0];
  }

  /** The changes of `set`, in its order. */
  #write(): Change[] {
    const written = (this.commit.set ?? []).map(({ key, value, ttlMs }) => {
      if (ttlMs === undefined) return this.draft.put(valueKey(key), [value] satisfies StoredValue);
      return this.draft.put(valueKey(key), [value, this.now + ttlMs] satisfies StoredValue, collectAfterMs(ttlMs));
    });
    for (const key of this.commit.delete ?? []) this.draft.remove(valueKey(key));
    return written;
  }
}

function refused(result: CommitResult): ReturnType<Transaction<CommitResult>["decide"]> {
  return { accepted: false, result: () => result };
}

function refusalAt(why: Refusal["why"], at: number): Refusal | null {
  return at < 0 ? null : { ok: false, why, at };
}

// Deno KV collects by the machine's clock, readers go by the store's: a day between them lets that one be set back.
function collectAfterMs(ttlMs: number): number {
  return Math.ceil(Math.max(ttlMs, 0)) + 24 * 3_600_000;
}
