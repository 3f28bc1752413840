import type { Database } from "./database.ts";
import type { EngineClock } from "./engine_clock.ts";
import { SHARE_DURATION_MS } from "./share_leases.ts";

const ROWS = 1_000;

/**
 * Removes values, operation names and leases whose time has ended, and full buckets, in small transactions. Readers
 * ignore them anyway. Several nodes may do it at once.
 *
 * @param isEnding Whether to stop after the current step.
 */
export async function sweep(sql: Database, clock: EngineClock, isEnding: () => boolean): Promise<void> {
  const now = clock.parameter;
  for (const { table, column, keys, keptMs = 0 } of TABLES) {
    // Ends when fewer rows are left than a step removes.
    for (let removed = ROWS; removed === ROWS && !isEnding();) {
      const rows = await sql.unsafe(
        `with ended as materialized (
          select ${keys.join()} from switchyard.${table}
          where ${column} <= coalesce($1::float8, switchyard.now_ms()) - ${keptMs}
          limit ${ROWS} for update skip locked
        )
        delete from switchyard.${table} t using ended
        where ${keys.map((key) => `t.${key} = ended.${key}`).join(" and ")}`,
        [now],
      );
      removed = rows.count;
    }
  }
}

interface SweptTable {
  readonly table: string;
  /** The column of the time when a row ends. */
  readonly column: string;
  readonly keys: readonly string[];
  /** For how long rows that have ended are kept. Default 0. */
  readonly keptMs?: number;
}

const TABLES: readonly SweptTable[] = [
  { table: "value", column: "expires_at", keys: ["key"] },
  { table: "operation", column: "expires_at", keys: ["name"] },
  { table: "bucket", column: "full_at", keys: ["name"] },
  { table: "lease", column: "expires_at", keys: ["account", "holder"] },
  // A demand since an earlier reading counts the leases of that time, those that have ended since included.
  { table: "share", column: "expires_at", keys: ["name", "holder"], keptMs: SHARE_DURATION_MS },
  { table: "shared_limit", column: "ends_at", keys: ["name"] },
];
