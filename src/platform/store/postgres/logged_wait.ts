import type { Clock } from "../../lib/basics/clock.ts";
import { holdState } from "../../lib/basics/held.ts";
import type { Log } from "../../lib/basics/log.ts";
import type { Database } from "./database.ts";

/** What {@linkcode loggedWait} needs. */
export interface LoggedWait {
  readonly clock: Clock;
  readonly log: Log;
  /** The database, for the line. */
  readonly place: string;
  /** What the work waits for: `an answer of the server`. */
  readonly thing: string;
  /** How long it waits at most, in milliseconds; null without a limit. */
  readonly limitMs: number | null;
  /** Connections to find out who has a lock; null if none can be had. */
  readonly sql: Database | null;
}

/** Work that takes longer is waiting for something. */
const LOGGED_AFTER_MS = 1_000;

/**
 * Runs work of a start. If it takes longer than a second, one line says what it waits for, how long at most, and who
 * has the lock that it waits for.
 */
export async function loggedWait<T>(wait: LoggedWait, work: () => Promise<T>): Promise<T> {
  const { clock, log, place, thing, limitMs, sql } = wait;
  const ended = new AbortController();
  const say = async () => {
    const holders = sql === null ? "" : await holdersOf(sql).catch(() => "");
    if (ended.signal.aborted) return;
    const limit = limitMs === null ? "without a time limit" : `for at most ${limitMs / 1_000} s`;
    log.warn("store_waits", { reason: `${place}: the start waits for ${thing}, ${limit}${holders}` });
  };
  const stop = clock.after(LOGGED_AFTER_MS, () => holdState(say(), "the line about a wait"));
  try {
    return await work();
  } finally {
    ended.abort();
    stop();
  }
}

/** Who holds the locks that gateways wait for in this database; empty if nobody does, or if the server hides it. */
async function holdersOf(sql: Database): Promise<string> {
  const rows = await sql<{ pid: number; name: string | null; address: string | null }[]>`
    select pid, application_name as name, host(client_addr) as address from pg_stat_activity
    where pid in (
      select unnest(pg_blocking_pids(pid)) from pg_stat_activity
      where application_name = 'switchyard' and wait_event_type = 'Lock' and datname = current_database()
    ) order by pid limit 3`;
  const named = rows.map(({ pid, name, address }) => {
    const facts = [name, address === null ? null : `from ${address}`].filter((each) => each !== null && each !== "");
    return facts.length === 0 ? `process ${pid}` : `process ${pid} (${facts.join(" ")})`;
  });
  return named.length === 0 ? "" : `; ${named.join(", ")} of the server has it`;
}
