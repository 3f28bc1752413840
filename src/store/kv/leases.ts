/**
 * Claiming and renewing jobs in the embedded engine. A job is free when it stands under generation 0, or under one of a
 * process that is gone, or when its lease has ended; in the due index each of these is a range of its own.
 */
import type { ReadKey, Transaction, WriteSet } from "./transaction.ts";
import { dueKey, encodeKey, jobKey, type JobRecord, keyOfKv, kvKeyOf } from "./keys.ts";
import type { Job, Key } from "../store.ts";

/** What the due index says of a job. */
export interface DueIndexEntry {
  readonly kind: string;
  readonly ref: string;
  readonly id: string;
  readonly generation: number;
  readonly dueAt: number;
}

/** What a look at the due index of one kind found. */
export interface DueJobs {
  /** Free jobs: first those whose worker is gone, then by due time. */
  readonly due: readonly DueIndexEntry[];
  /** The first of those that are not due yet, if the look went that far. */
  readonly next: DueIndexEntry | null;
}

/** How many jobs one proposal claims or renews, so that several fit into one atomic. */
export const JOBS_PER_TRANSACTION = 30;

/** Looks up the free jobs of a kind: at most `limit`, and the next one after them. */
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

/** The order to claim in, over several kinds: jobs whose worker is gone, then the longest due. */
export function byClaimOrder(generation: number): (a: DueIndexEntry, b: DueIndexEntry) => number {
  const rank = (entry: DueIndexEntry) => entry.generation === 0 || entry.generation === generation ? 1 : 0;
  return (a, b) => rank(a) - rank(b) || isBefore(a, b);
}

/** The kinds that have jobs, found by leaping from each to the next. */
export async function kindsOfJobs(kv: Deno.Kv): Promise<string[]> {
  const kinds: string[] = [];
  let start: Key = ["due", ""];
  while (true) {
    const [entry] = await listDue(kv, start, ["due\x00"], 1);
    if (!entry) return kinds;
    kinds.push(entry.kind);
    start = ["due", entry.kind + "\x00"];
  }
}

/** Claims what is still free of some due jobs, at most {@linkcode JOBS_PER_TRANSACTION}. */
export function claimTransaction(
  entries: readonly DueIndexEntry[],
  options: { readonly leaseMs: number; readonly now: () => number; readonly generation: number },
): Transaction<Job[]> {
  return jobTransaction(entries, (draft) => {
    const now = options.now();
    return entries.flatMap((entry) => {
      const record = recordOf(draft, entry);
      if (!record || !isFree(record, now, options.generation)) return [];
      const isRetaken = record.generation !== 0;
      return [lease(draft, entry, record, {
        id: record.id,
        epoch: record.epoch + 1,
        attempt: record.attempt + (isRetaken ? 1 : 0),
        dueAt: now + options.leaseMs,
        generation: options.generation,
      })];
    });
  }, isSome);
}

/** Moves the ends of those leases that are still held by the given jobs' epochs. */
export function renewTransaction(
  jobs: readonly Job[],
  options: { readonly leaseMs: number; readonly now: () => number; readonly generation: number },
): Transaction<Job[]> {
  return jobTransaction(jobs, (draft) => {
    const dueAt = options.now() + options.leaseMs;
    return jobs.flatMap((job) => {
      const record = recordOf(draft, job);
      if (record?.epoch !== job.epoch || record.generation !== options.generation) return [];
      return [lease(draft, job, record, { ...record, dueAt })];
    });
  }, isSome);
}

const isSome = (jobs: readonly Job[]) => jobs.length > 0;

type Named = Pick<Job, "kind" | "ref" | "id">;

/** A proposal over the records and due times of at most {@linkcode JOBS_PER_TRANSACTION} jobs. */
export function jobTransaction<R>(
  jobs: readonly Named[],
  decide: (draft: WriteSet) => R,
  isAccepted: (result: R) => boolean,
): Transaction<R> {
  const touches = jobs.map(({ kind, ref }): ReadKey => {
    const key = jobKey(kind, ref);
    return { id: encodeKey(key), key, isAssumedAbsent: false };
  });
  const keyBytes = touches.reduce((sum, { id }) => sum + 3 * (id.length + 72), 0);
  return {
    reads: touches,
    size: { checks: touches.length, writes: 3 * jobs.length, bytes: keyBytes + 300 * jobs.length, keyBytes },
    decide(draft) {
      const result = decide(draft);
      return { accepted: isAccepted(result), result: () => result };
    },
  };
}

function recordOf(draft: WriteSet, { kind, ref, id }: Named): JobRecord | null {
  const record = draft.read(jobKey(kind, ref)).value as JobRecord | undefined;
  return record?.id === id ? record : null;
}

function isFree(record: JobRecord, now: number, generation: number): boolean {
  const isAbandoned = record.generation !== 0 && record.generation !== generation;
  return isAbandoned || record.dueAt <= now;
}

function lease(draft: WriteSet, { kind, ref }: Named, before: JobRecord, after: JobRecord): Job {
  draft.remove(dueKey(kind, before));
  draft.put(jobKey(kind, ref), after);
  draft.put(dueKey(kind, after), ref);
  const { id, epoch, attempt, dueAt } = after;
  return { id, kind, ref, epoch, attempt, dueAt };
}

/** Entries of the due index between two places, in its order. */
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
