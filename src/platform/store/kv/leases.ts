/**
 * Claims and renews jobs in the Deno KV engine. A job is free if it has no lease, if the process of its lease has
 * ended, or if its lease has ended. Each of these is one range of the due index.
 */
import type { ReadKey, Transaction, WriteSet } from "./transaction.ts";
import { encodeKey } from "../key_encoding.ts";
import { dueKey, jobKey, type JobRecord, keyOfKv, kvKeyOf } from "./keys.ts";
import type { Job, Key } from "../store.ts";

/** An entry of the due index. */
export interface DueIndexEntry {
  readonly kind: string;
  readonly ref: string;
  readonly id: string;
  readonly generation: number;
  readonly dueAt: number;
}

/** The free jobs of one kind. */
export interface DueJobs {
  /** First the jobs of processes that have ended, then by due time. */
  readonly due: readonly DueIndexEntry[];
  /** The first job that is not due yet; null if none was read. */
  readonly next: DueIndexEntry | null;
}

/** Jobs that one transaction claims or renews, so that several transactions fit into one atomic write. */
export const JOBS_PER_TRANSACTION = 30;

/** Finds the free jobs of a kind: at most `limit`, and the next one after them. */
export async function dueJobsOf(
  kv: Deno.Kv,
  kind: string,
  options: { readonly limit: number; readonly now: number; readonly generation: number },
): Promise<DueJobs> {
  const { limit, now, generation } = options;
  const [abandoned, waiting, leased] = await Promise.all([
    generation > 1 ? listDue(kv, ["due", kind, 1], ["due", kind, generation], limit) : [],
    listDue(kv, ["due", kind, 0], ["due", kind, 1], limit + 1),
    listDue(kv, ["due", kind, generation], ["due", kind, generation + 1], limit + 1),
  ]);
  const byTime = [...waiting, ...leased].sort(isBefore);
  const due = [...abandoned, ...byTime.filter((entry) => entry.dueAt <= now)].slice(0, limit);
  return { due, next: byTime.find((entry) => entry.dueAt > now) ?? null };
}

/** The order of claims over several kinds: first the jobs of processes that have ended, then the longest due. */
export function byClaimOrder(generation: number): (a: DueIndexEntry, b: DueIndexEntry) => number {
  const rank = (entry: DueIndexEntry) => entry.generation === 0 || entry.generation === generation ? 1 : 0;
  return (a, b) => rank(a) - rank(b) || isBefore(a, b);
}

/** The kinds that have jobs. Each is found by one read after the last entry of the kind before. */
export async function kindsOfJobs(kv: Deno.Kv): Promise<string[]> {
  const kinds: string[] = [];
  let start: Key = ["due", ""];
  // Ends after the last kind: each read begins behind the one before.
  while (true) {
    const [entry] = await listDue(kv, start, ["due\x00"], 1);
    if (!entry) return kinds;
    kinds.push(entry.kind);
    start = ["due", entry.kind + "\x00"];
  }
}

/** Claims those of at most {@linkcode JOBS_PER_TRANSACTION} due jobs that are still free. */
export function claimTransaction(
  entries: readonly DueIndexEntry[],
  options: { readonly leaseMs: number; readonly now: () => number; readonly generation: number },
): Transaction<Job[]> {
  return jobTransaction(entries, (writes) => {
    const now = options.now();
    return entries.flatMap((entry) => {
      const record = recordOf(writes, entry);
      if (!record || !isFree(record, now, options.generation)) return [];
      const isRetaken = record.generation !== 0;
      return [lease(writes, entry, record, {
        id: record.id,
        epoch: record.epoch + 1,
        attempt: record.attempt + (isRetaken ? 1 : 0),
        dueAt: now + options.leaseMs,
        generation: options.generation,
      })];
    });
  }, isSome);
}

/** Extends the leases of those jobs whose epoch is still current. */
export function renewTransaction(
  jobs: readonly Job[],
  options: { readonly leaseMs: number; readonly now: () => number; readonly generation: number },
): Transaction<Job[]> {
  return jobTransaction(jobs, (writes) => {
    const dueAt = options.now() + options.leaseMs;
    return jobs.flatMap((job) => {
      const record = recordOf(writes, job);
      if (record?.epoch !== job.epoch || record.generation !== options.generation) return [];
      return [lease(writes, job, record, { ...record, dueAt })];
    });
  }, isSome);
}

const isSome = (jobs: readonly Job[]) => jobs.length > 0;

type Named = Pick<Job, "kind" | "ref" | "id">;

/** A transaction over the records and due times of at most {@linkcode JOBS_PER_TRANSACTION} jobs. */
export function jobTransaction<R>(
  jobs: readonly Named[],
  decide: (writes: WriteSet) => R,
  isAccepted: (result: R) => boolean,
): Transaction<R> {
  const reads = jobs.map(({ kind, ref }): ReadKey => {
    const key = jobKey(kind, ref);
    return { id: encodeKey(key), key, isAssumedAbsent: false };
  });
  const keyBytes = reads.reduce((sum, { id }) => sum + 3 * (id.length + 72), 0);
  return {
    reads: reads,
    size: { checks: reads.length, writes: 3 * jobs.length, bytes: keyBytes + 300 * jobs.length, keyBytes },
    decide(writes) {
      const result = decide(writes);
      return { accepted: isAccepted(result), result: () => result };
    },
  };
}

function recordOf(writes: WriteSet, { kind, ref, id }: Named): JobRecord | null {
  const record = writes.read(jobKey(kind, ref)).value as JobRecord | undefined;
  return record?.id === id ? record : null;
}

function isFree(record: JobRecord, now: number, generation: number): boolean {
  const isAbandoned = record.generation !== 0 && record.generation !== generation;
  return isAbandoned || record.dueAt <= now;
}

function lease(writes: WriteSet, { kind, ref }: Named, before: JobRecord, after: JobRecord): Job {
  writes.remove(dueKey(kind, before));
  writes.put(jobKey(kind, ref), after);
  writes.put(dueKey(kind, after), ref);
  const { id, epoch, attempt, dueAt } = after;
  return { id, kind, ref, epoch, attempt, dueAt };
}

/** Lists entries of the due index between two keys, in key order. */
export async function listDue(kv: Deno.Kv, start: Key, end: Key, limit: number): Promise<DueIndexEntry[]> {
  const entries: DueIndexEntry[] = [];
  const options = { batchSize: Math.min(limit, 500), ...(limit < Infinity && { limit }) };
  for await (const { key, value } of kv.list<string>({ start: kvKeyOf(start), end: kvKeyOf(end) }, options)) {
    const [, kind, generation, dueAt, id] = keyOfKv(key) as ["due", string, number, number, string];
    entries.push({ kind, ref: value, id, generation, dueAt });
  }
  return entries;
}

function isBefore(a: DueIndexEntry, b: DueIndexEntry): number {
  return a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1);
}
