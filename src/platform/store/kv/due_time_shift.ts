import { dueKey, jobKey, type JobRecord } from "./keys.ts";
import { type DueIndexEntry, jobTransaction, listDue } from "./leases.ts";
import type { Transaction, WriteSet } from "./transaction.ts";

/**
 * The interval of writes of the clock to the database, in milliseconds. It is the most by which a job can be late after
 * the clock was set back while the database was closed.
 */
export const CLOCK_WRITE_INTERVAL_MS = 10_000;

/** Jobs of a kind that are not due yet: unclaimed ones and those leased by this generation. */
export async function waitingJobsOf(
  kv: Deno.Kv,
  kind: string,
  { now, generation }: { readonly now: number; readonly generation: number },
): Promise<DueIndexEntry[]> {
  const ahead = Math.floor(now) + 1;
  const [free, leased] = await Promise.all([
    listDue(kv, ["due", kind, 0, ahead], ["due", kind, 1], Infinity),
    listDue(kv, ["due", kind, generation, ahead], ["due", kind, generation + 1], Infinity),
  ]);
  return [...free, ...leased];
}

/** Moves due times back by `byMs`, for jobs that have not changed since they were listed. Returns their number. */
export function advanceTransaction(entries: readonly DueIndexEntry[], byMs: number): Transaction<number> {
  return jobTransaction(
    entries,
    (writes) => entries.filter((entry) => advance(writes, entry, byMs)).length,
    (count) => count > 0,
  );
}

function advance(writes: WriteSet, { kind, ref, id, generation, dueAt }: DueIndexEntry, byMs: number): boolean {
  const key = jobKey(kind, ref);
  const record = writes.read(key).value as JobRecord | undefined;
  if (record?.id !== id || record.generation !== generation || record.dueAt !== dueAt) return false;
  const moved: JobRecord = { ...record, dueAt: dueAt - byMs };
  writes.remove(dueKey(kind, record));
  writes.put(key, moved);
  writes.put(dueKey(kind, moved), ref);
  writes.wakeAt({ kind, dueAt: moved.dueAt });
  return true;
}
