import { type Clock, sleep } from "../../lib/basics/clock.ts";
import { holdState } from "../../lib/basics/held.ts";
import type { Log } from "../../lib/basics/log.ts";
import { StoreUnusableError } from "../store_unusable_error.ts";
import type { Database } from "./database.ts";
import { type LoggedWait, loggedWait } from "./logged_wait.ts";
import { PrimaryCheck } from "./primary_check.ts";

/**
 * Who may use a database beside the holder of a lock: `shared`, as gateways have it, others with a shared lock;
 * `alone`, as commands have it, nobody.
 */
export type LockMode = "shared" | "alone";

/** What {@linkcode DatabaseLock} needs. */
export interface DatabaseLockOptions {
  readonly mode: LockMode;
  /** A pool of one connection, which has the lock. */
  readonly sql: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** The database, for messages. */
  readonly place: string;
  /** Called once, when another process has the database alone since this one lost its lock. */
  readonly onLost: () => void;
  /** How long a check is trusted, in milliseconds. Default: four seconds. */
  readonly trustedMs?: number;
}

/** The lock of the processes that use a database, among the advisory locks of the database. */
export const DATABASE_LOCK = 1_937_205_604;

const CHECK_INTERVAL_MS = 1_000;
/** A check is trusted for so long. */
const TRUSTED_MS = 4_000;
/** A process that waited for the lock uses the store only when the last check of the process before is not trusted. */
const GRACE_MS = 1_000;

/**
 * The lock of a process on the database that it uses, shared with others or alone. It belongs to a connection, so the
 * server releases it when the connection ends. The lock is checked every second, and taken again on a new connection if
 * no other process prevents it. So is the server: it must be the primary.
 */
export class DatabaseLock {
  readonly #options: DatabaseLockOptions;
  readonly #trustedMs: number;
  readonly #primary = new PrimaryCheck();
  #checkedAt = -Infinity;
  /** Why the server must not be used, by the last check. */
  #refusal: string | null = null;
  #holders = 1;
  #isLost = false;
  #isClosed = false;
  #stopTimer: () => void = () => {};

  constructor(options: DatabaseLockOptions) {
    this.#options = options;
    this.#trustedMs = options.trustedMs ?? TRUSTED_MS;
  }

  /** Why this process must not use the store; null if it has the lock. */
  get failure(): string | null {
    if (this.#isLost) return "another process has taken the database; start this one again";
    if (this.#refusal !== null) return this.#refusal;
    if (this.#options.clock.monotonicMs() - this.#checkedAt < this.#trustedMs) return null;
    return "the lock on the database could not be checked for some seconds";
  }

  /** The processes that had the lock at the last check, with this one. */
  get holders(): number {
    return this.#holders;
  }

  /**
   * Takes the lock.
   *
   * @param isStandby Whether to wait until no other process has it, also if it could be shared.
   * @throws {StoreUnusableError} If another process has it and does not share it, or it is wanted alone; if the server
   * is no primary.
   */
  async take(isStandby: boolean): Promise<void> {
    const { place, mode, sql } = this.#options;
    const refusal = await this.#primary.refusalOf(sql);
    if (refusal !== null) throw new StoreUnusableError(`Cannot use the store at ${place}: ${refusal}`);
    if (isStandby) await this.#waitUntilAlone();
    if (!await this.#check(mode)) throw inUse(place, mode);
    if (isStandby && mode === "shared") await this.#release("alone");
    this.#checkLater();
  }

  /** Takes the lock alone, when the process before does not trust its last check any more. */
  async #waitUntilAlone(): Promise<void> {
    const { log, clock, place } = this.#options;
    if (await this.#check("alone")) return;
    log.info("standby", {
      reason: `${place}: another gateway uses it; this one starts when it has ended, without a time limit`,
    });
    do {
      do await sleep(clock, CHECK_INTERVAL_MS); while (!await this.#check("alone").catch(() => false));
      await sleep(clock, this.#trustedMs + GRACE_MS);
    } while (!await this.#check("alone").catch(() => false));
  }

  /** Releases the lock and closes its connection. */
  async release(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer();
    await this.#options.sql.end({ timeout: 1 });
  }

  /** Takes the lock unless this connection has it. Returns whether it has it now. */
  async #check(mode: LockMode): Promise<boolean> {
    const { sql, clock } = this.#options;
    const at = clock.monotonicMs();
    const isShared = mode === "shared";
    const [row] = await sql<{ isHeld: boolean; others: number }[]>`
      with held as (
        select pid, mode from pg_locks
        where locktype = 'advisory' and classid = 0 and objid = ${DATABASE_LOCK}::bigint::oid and granted
          and database = (select oid from pg_database where datname = current_database())
      )
      select case
        when exists (
          select from held where pid = pg_backend_pid() and mode = ${isShared ? "ShareLock" : "ExclusiveLock"}
        ) then true
        when ${isShared} then pg_try_advisory_lock_shared(${DATABASE_LOCK}::bigint)
        else pg_try_advisory_lock(${DATABASE_LOCK}::bigint)
      end as "isHeld", (select count(*) from held where pid <> pg_backend_pid())::int as others`;
    if (row?.isHeld !== true) return false;
    this.#checkedAt = at;
    this.#holders = row.others + 1;
    return true;
  }

  /** Checks the server, and the lock if it is the primary. The lock of another server proves nothing. */
  async #checkAll(): Promise<boolean> {
    const { sql, log, place, mode } = this.#options;
    const refusal = await this.#primary.refusalOf(sql);
    if (this.#isClosed) return true;
    if (refusal !== null && this.#refusal === null) {
      log.error("store_not_primary", { reason: `${place}: ${refusal}; paid requests get 503` });
    } else if (refusal === null && this.#refusal !== null) {
      log.warn("store_primary", { reason: `${place} is the primary again` });
    }
    this.#refusal = refusal;
    return refusal !== null || await this.#check(mode);
  }

  async #release(mode: LockMode): Promise<void> {
    const { sql } = this.#options;
    if (mode === "alone") await sql`select pg_advisory_unlock(${DATABASE_LOCK}::bigint)`;
    else await sql`select pg_advisory_unlock_shared(${DATABASE_LOCK}::bigint)`;
  }

  #checkLater(): void {
    this.#stopTimer = this.#options.clock.after(
      CHECK_INTERVAL_MS,
      () => holdState(this.#checkOnce(), "the lock of the database"),
    );
  }

  async #checkOnce(): Promise<void> {
    // While the server does not answer, the last check becomes too old.
    const isHeld = await this.#checkAll().catch(() => true);
    if (this.#isClosed) return;
    if (isHeld) return this.#checkLater();
    this.#isLost = true;
    const { log, place, onLost } = this.#options;
    log.error("store_taken_over", {
      reason:
        `another process has taken ${place} since the connection with the lock was lost; this one changes nothing`,
    });
    onLost();
  }
}

/** The lock of work that one process does at a time. */
const TURN_LOCK = 1_937_205_605;
const TURN_POLL_MS = 100;
const TURN = "another gateway that starts, and writes its accounts and keys";

/** Runs work while no other process runs work by this function. Its lock ends with the connection. */
export async function withLockTurn<T>(
  { sql, clock, log, place }: { readonly sql: Database } & Pick<LoggedWait, "clock" | "log" | "place">,
  work: () => Promise<T>,
): Promise<T> {
  const connection = await sql.reserve();
  try {
    const take = () => connection<{ isHeld: boolean }[]>`select pg_try_advisory_lock(${TURN_LOCK}::bigint) as "isHeld"`;
    await loggedWait({ clock, log, place, thing: TURN, limitMs: null, sql: null }, async () => {
      while ((await take())[0]?.isHeld !== true) await sleep(clock, TURN_POLL_MS);
    });
    try {
      return await work();
    } finally {
      await connection`select pg_advisory_unlock(${TURN_LOCK}::bigint)`.catch(() => {}); // it ends with the connection
    }
  } finally {
    connection.release();
  }
}

function inUse(place: string, mode: LockMode): StoreUnusableError {
  const what = mode === "alone"
    ? "another process uses it. Select its gateway with --gateway URL, or stop all its gateways"
    : "another process has exclusive use of it: a command, or a gateway of an earlier version. Try again when it has ended, or " +
      "start this gateway with serve --standby, which waits until then";
  return new StoreUnusableError(`Cannot use the store at ${place}: ${what}`);
}
