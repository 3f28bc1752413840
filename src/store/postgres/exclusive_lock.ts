import { type Clock, sleep } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { StoreUnusableError } from "../store_unusable_error.ts";
import type { Database } from "./database.ts";

/** What {@linkcode ExclusiveLock} needs. */
export interface ExclusiveLockOptions {
  /** A pool of one connection, which has the lock. */
  readonly sql: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** The database, for messages. */
  readonly place: string;
  /** Called once, when another process has the lock that this one had. */
  readonly onLost: () => void;
}

/** The lock of a process that uses a database alone, among the advisory locks of the database. */
export const EXCLUSIVE_LOCK = 1_937_205_604;

const CHECK_INTERVAL_MS = 1_000;
/** A check is trusted for so long. */
const TRUSTED_MS = 4_000;
/** A process that waited for the lock uses the store only when the last check of the process before is not trusted. */
const GRACE_MS = TRUSTED_MS + 1_000;

/**
 * The lock on a database that one process uses alone. It belongs to a connection, so the server releases it when the
 * connection ends. The lock is checked every second, and taken again on a new connection if no other process has it.
 */
export class ExclusiveLock {
  readonly #options: ExclusiveLockOptions;
  #checkedAt = -Infinity;
  #isLost = false;
  #isClosed = false;
  #stopTimer: () => void = () => {};

  constructor(options: ExclusiveLockOptions) {
    this.#options = options;
  }

  /** Why this process must not use the store; null if it has the lock. */
  get failure(): string | null {
    if (this.#isLost) return "another gateway uses the database; this one must be started again";
    if (this.#options.clock.monotonicMs() - this.#checkedAt < TRUSTED_MS) return null;
    return "the lock on the database could not be checked for some seconds";
  }

  /**
   * Takes the lock.
   *
   * @param isStandby Whether to wait while another process has it.
   * @throws {StoreUnusableError} If another process has it.
   */
  async take(isStandby: boolean): Promise<void> {
    const { place, log, clock } = this.#options;
    if (!await this.#check()) {
      if (!isStandby) throw inUse(place);
      log.info("standby", { reason: "another gateway uses the database; this one starts when it has ended" });
      do await sleep(clock, CHECK_INTERVAL_MS); while (!await this.#check().catch(() => false));
      await sleep(clock, GRACE_MS);
      if (!await this.#check()) return await this.take(isStandby);
    }
    this.#checkLater();
  }

  /** Releases the lock and closes its connection. */
  async release(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer();
    await this.#options.sql.end({ timeout: 1 });
  }

  /** Takes the lock unless this connection has it. Returns whether it has it now. */
  async #check(): Promise<boolean> {
    const { sql, clock } = this.#options;
    const at = clock.monotonicMs();
    const [row] = await sql<{ isHeld: boolean }[]>`
      select case when exists (
        select from pg_locks
        where locktype = 'advisory' and pid = pg_backend_pid() and classid = 0 and objid = ${EXCLUSIVE_LOCK}::bigint::oid
      ) then true else pg_try_advisory_lock(${EXCLUSIVE_LOCK}::bigint) end as "isHeld"`;
    if (row?.isHeld !== true) return false;
    this.#checkedAt = at;
    return true;
  }

  #checkLater(): void {
    this.#stopTimer = this.#options.clock.after(CHECK_INTERVAL_MS, async () => {
      // While the server does not answer, the last check becomes too old.
      const isHeld = await this.#check().catch(() => true);
      if (this.#isClosed) return;
      if (isHeld) return this.#checkLater();
      this.#isLost = true;
      const { log, place, onLost } = this.#options;
      log.error("store_taken_over", {
        reason: `another gateway uses ${place} since the connection with the lock was lost; this one changes nothing`,
      });
      onLost();
    });
  }
}

function inUse(place: string): StoreUnusableError {
  return new StoreUnusableError(
    `Cannot use the store at ${place}: another process uses it. Select its gateway with --gateway URL, stop it, or ` +
      "start this one with serve --standby, which waits until the other has ended",
  );
}
