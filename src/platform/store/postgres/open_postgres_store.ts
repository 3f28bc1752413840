import type { Clock } from "../../lib/basics/clock.ts";
import type { Log } from "../../lib/basics/log.ts";
import { isRollback } from "../clock_rollback.ts";
import { StoreUnusableError } from "../store_unusable_error.ts";
import type { WriteHealthOptions } from "../write_health.ts";
import {
  checkServer,
  connect,
  CONNECT_TIMEOUT_MS,
  type Database,
  lockTimeoutOf,
  placeOf,
  reasonOf,
} from "./database.ts";
import { DatabaseLock, type LockMode } from "./database_lock.ts";
import { loggedWait } from "./logged_wait.ts";
import { EngineClock } from "./engine_clock.ts";
import { prepareSchema } from "./migrate.ts";
import { PostgresStore } from "./postgres_store.ts";

/** The settings and dependencies of the PostgreSQL engine. */
export interface PostgresStoreOptions {
  /** `postgres://user:password@host/database` with `sslmode` and other parameters. */
  readonly url: string;
  /** The clock of this process. Due times, leases and expiries follow the clock of the server. */
  readonly clock: Clock;
  readonly log: Log;
  /** The most connections; one more listens. Default 8. */
  readonly maxConnections?: number;
  /** Who may use the database at the same time, by the lock of a connection. Default: everyone, without a lock. */
  readonly lock?: LockMode;
  /** Whether to wait until no other process has a lock. Default false. */
  readonly isStandby?: boolean;
  /** Called once, when another process has the database alone since this one lost its lock. Writes are refused then. */
  readonly onLost?: () => void;
  /** The free space on the disk of the files and the minimum. Default: not checked. */
  readonly space?: Pick<WriteHealthOptions, "freeBytes" | "minFreeBytes">;
  /** Whether `clock` is the engine's clock too, in place of the server's, so that a test can move it. Default false. */
  readonly isEngineClock?: boolean;
  /** Default: five seconds for a statement and for a connection, four for the lock, two for charges. */
  readonly patience?: DatabasePatience;
}

/** How long the database may take, in milliseconds. */
export interface DatabasePatience {
  /** For the answer to a statement; at most ten seconds. */
  readonly statementMs: number;
  /** For a new connection. */
  readonly connectMs: number;
  /** Until the lock must have been checked again. */
  readonly lockMs: number;
  /** For the charges that wait in a journal. */
  readonly ledgerMs: number;
}

const MAX_CONNECTIONS = 8;
const STATEMENT_TIMEOUT_MS = 5_000;
const TABLES = "its tables, which another process creates, changes or has locked";

/**
 * Opens the PostgreSQL engine. The tables are created in an empty database.
 *
 * @throws {StoreUnusableError} If the server does not answer or is too old, or the schema does not fit this version.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { url, log, space, maxConnections = MAX_CONNECTIONS, patience } = options;
  const times = {
    statementTimeoutMs: patience?.statementMs ?? STATEMENT_TIMEOUT_MS,
    connectTimeoutMs: patience?.connectMs ?? CONNECT_TIMEOUT_MS,
  };
  const place = placeOf(url);
  const clock = new EngineClock(options.clock, options.isEngineClock ?? false);
  const sql = connect({ url, maxConnections, ...times });
  const lock = options.lock
    ? new DatabaseLock({
      mode: options.lock,
      sql: connect({ url, maxConnections: 1, ...times, isLasting: true }),
      clock: options.clock,
      log,
      place,
      onLost: options.onLost ?? (() => {}),
      ...(patience && { trustedMs: patience.lockMs }),
    })
    : null;
  try {
    const wait = { clock: options.clock, log, place };
    const answer = { ...wait, thing: "an answer of the server", limitMs: times.connectTimeoutMs, sql: null };
    await loggedWait(answer, () => checkServer(sql, place));
    await lock?.take(options.isStandby ?? false);
    const tables = { ...wait, thing: TABLES, limitMs: lockTimeoutOf(times.statementTimeoutMs), sql };
    const clockEpoch = await loggedWait(tables, async () => {
      await prepareSchema(sql, place);
      return await startClock(sql, clock);
    });
    return new PostgresStore({ sql, clock, log, place, clockEpoch, lock, ...(space && { space }) });
  } catch (error) {
    await Promise.all([sql.end({ timeout: 1 }), lock?.release()]);
    if (error instanceof StoreUnusableError) throw error;
    throw new StoreUnusableError(`Cannot use the store at ${place}: ${reasonOf(error)}`);
  }
}

/**
 * Reads the time of the server, and moves due times if it was set back since they were written. The time is read after
 * the one that was stored, by a statement of its own, so that a delay between them cannot look like a clock set back.
 */
async function startClock(sql: Database, clock: EngineClock): Promise<number> {
  const [stored] = await sql<{ epoch: string; at: number }[]>`select epoch, at from switchyard.clock`;
  if (!stored) throw new StoreUnusableError("Cannot use the store: its clock is missing");
  const { now } = await clock.measure(async () => {
    const [row] = await sql<{ now: number }[]>`
      select coalesce(${clock.parameter}::float8, switchyard.now_ms()) as now`;
    return { now: Number(row?.now) };
  });
  const byMs = stored.at - now;
  if (!isRollback(byMs)) return Number(stored.epoch);
  const [moved] = await sql<{ epoch: string }[]>`
    select switchyard.move_due_times_v1(${stored.epoch}::bigint, ${now}::float8, ${byMs}::float8) as epoch`;
  return Number(moved?.epoch);
}
