import type { Database } from "./database.ts";
import type { EngineClock } from "./engine_clock.ts";

const ROWS = 1_000;

/**
 * Removes values, operation names and leases whose time has ended, and full buckets, in small transactions. Readers
 * ignore them anyway. Several nodes may do it at once.
 *
 * @param isEnding Whether to stop after the current step.
 */
export async function sweep(sql: Database, clock: EngineClock, isEnding: () => boolean): Promise<void> {
  const now = clock.parameter;
  for (const [table, column, ...keys] of TABLES) {
    // Ends when fewer rows are left than a step removes.
    for (let removed = ROWS; removed === ROWS && !isEnding();) {
      const rows = await sql.unsafe(
        `with ended as materialized (
          select ${keys.join()} from switchyard.${table}
          where ${column} <= coalesce($1::float8, switchyard.now_ms())
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

/** The tables, their times of expiry and the columns of their keys. */
const TABLES = [
  ["value", "expires_at", "key"],
  ["operation", "expires_at", "name"],
  ["bucket", "full_at", "name"],
  ["lease", "expires_at", "account", "holder"],
  ["share", "expires_at", "name", "holder"],
  ["shared_limit", "ends_at", "name"],
];
