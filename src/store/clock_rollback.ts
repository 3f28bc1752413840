/**
 * A machine's clock that is set back. Due times are instants of that clock, so that those set before would lie ahead by
 * as much as it was set back. They are moved back along, so that no job waits longer than it was put off for.
 *
 * What is noticed: within a process at the first use of the store, by a clock that never goes back; between two opens
 * of a database by an instant that is written beside due times, see {@linkcode CLOCK_WRITE_INTERVAL_MS}.
 */
import type { Clock } from "../lib/clock.ts";
import type { Transaction, WriteSet } from "./kv/transaction.ts";
import { dueKey, jobKey, type JobRecord } from "./kv/keys.ts";
import { type DueIndexEntry, jobTransaction, listDue } from "./kv/leases.ts";

/**
 * How old the noted instant may be, in milliseconds: what a due time can be late by after a clock was set back between
 * opens.
 */
export const CLOCK_WRITE_INTERVAL_MS = 10_000;

/** Less than that is how clocks are kept right, and no job minds. */
const TOLERANCE_MS = 1_000;

/** Tells by how much a clock was set back. */
export class ClockRollbackDetector {
  #offsetMs: number;

  /** @param clock The one to watch, from now on. */
  constructor(private readonly clock: Clock) {
    this.#offsetMs = this.#offset();
  }

  /** Whole milliseconds by which the clock was set back since the last call; 0 when it was not. */
  takeRollbackMs(): number {
    const offsetMs = this.#offset();
    const setBackMs = this.#offsetMs - offsetMs;
    this.#offsetMs = offsetMs;
    return isRollback(setBackMs) ? Math.round(setBackMs) : 0;
  }

  #offset(): number {
    return this.clock.now() - this.clock.monotonicMs();
  }
}

/** Whether a difference means that the clock was set back. */
export function isRollback(byMs: number): boolean {
  return byMs >= TOLERANCE_MS;
}

/** Jobs of a kind that are not due yet, free or leased by this generation. */
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

/** Makes jobs due so much earlier, as far as they are still as they were found. */
export function advanceTransaction(entries: readonly DueIndexEntry[], byMs: number): Transaction<number> {
  return jobTransaction(
    entries,
    (draft) => entries.filter((entry) => moveUp(draft, entry, byMs)).length,
    (count) => count > 0,
  );
}

function moveUp(draft: WriteSet, { kind, ref, id, generation, dueAt }: DueIndexEntry, byMs: number): boolean {
  const key = jobKey(kind, ref);
  const record = draft.read(key).value as JobRecord | undefined;
  if (record?.id !== id || record.generation !== generation || record.dueAt !== dueAt) return false;
  const moved: JobRecord = { ...record, dueAt: dueAt - byMs };
  draft.remove(dueKey(kind, record));
  draft.put(key, moved);
  draft.put(dueKey(kind, moved), ref);
  draft.wakeAt({ kind, dueAt: moved.dueAt });
  return true;
}
