import {
  checkServer,
  codeOf,
  connect,
  type Database,
  placeOf,
  reasonOf,
} from "../../../platform/store/postgres/database.ts";
import { applySteps, schemaVersion } from "../../../platform/store/postgres/migrate.ts";
import { ROW_COLUMNS, type RowValue, type StoredRow } from "../row.ts";
import { POSITIONS_PER_MS, type SearchedRows, type VisitedRows } from "../search.ts";
import { LOG_SCHEMA, LOG_STEPS } from "./schema.ts";

const DAY_MS = 86_400_000;
const STATEMENT_TIMEOUT_MS = 5_000;
/** One writes, one reads. */
const MAX_CONNECTIONS = 2;
const MAX_KNOWN_KEYS = 10_000;

const SELECTED = ["position", ...ROW_COLUMNS].join(", ");
const WIDTH = ROW_COLUMNS.length;
const ACCOUNT_COLUMN = ROW_COLUMNS.indexOf("account_id");
const KEY_COLUMN = ROW_COLUMNS.indexOf("key_id");
const RECORD = `n int, least bigint, ended_at bigint, request_id text, account_id text, key_id text, model text,
  served_model text, provider text, status int, code text, message text, attempts text, facts text`;

/** Positions follow each other, and none is before the time of its row: `n` more than the last one, or than `least`. */
const APPEND = appendStatement("true");
const APPEND_MISSING = appendStatement("not exists (select from requests q where q.request_id = r.request_id)");
/** The error for a row that no partition takes. */
const NO_PARTITION = "23514";
/** The errors for a table, and for its type, that another session has created since. */
const ADDED_BY_ANOTHER = new Set(["42P07", "23505"]);

/** A row with what decides its position. */
type PlacedRow = Readonly<Record<string, RowValue>>;

/** The rows of one day. */
interface Partition {
  readonly name: string;
  /** The start of its day in Unix milliseconds. */
  readonly start: number;
  readonly bytes: number;
}

/** The tables of the log in PostgreSQL. */
export class LogTables implements SearchedRows {
  /** See {@linkcode SearchedRows}. */
  readonly dialect = {
    placeOf: "strpos",
    like: "ILIKE",
    facts: "facts::json",
    attempts: "attempts::json",
    membersOf: "json_array_elements",
  } as const;
  /** The starts of the days whose partitions exist. */
  readonly #days = new Set<number>();
  /** Keys whose accounts the table has. */
  readonly #knownKeys = new Set<string>();

  private constructor(readonly sql: Database) {}

  /**
   * Connects, and creates the tables if they are missing.
   *
   * @throws {Error} If the server cannot be used, or the tables were written by a later version.
   */
  static async open(url: string): Promise<LogTables> {
    const statementTimeoutMs = STATEMENT_TIMEOUT_MS;
    const sql = connect({ url, maxConnections: MAX_CONNECTIONS, statementTimeoutMs, schema: LOG_SCHEMA });
    try {
      await checkServer(sql, placeOf(url));
      const found = await schemaVersion(sql, LOG_SCHEMA);
      if (found < LOG_STEPS.length) await applySteps(sql, LOG_STEPS, LOG_SCHEMA);
      if (found > LOG_STEPS.length + 1) {
        throw new Error(`the request log has schema ${found}, and this version reads up to ${LOG_STEPS.length + 1}`);
      }
      return new LogTables(sql);
    } catch (error) {
      await sql.end({ timeout: 1 });
      throw error;
    }
  }

  /**
   * Appends rows in one statement. The lock of the last position orders the writes of all gateways, so that a reader
   * that continues after a position misses no row. It is no transaction of several statements: if the connection is cut
   * between two, the client throws where nobody can catch it, and the thread of the log ends.
   *
   * @param values Of {@linkcode ROW_COLUMNS}, one row after the other. The first column is when the request ended.
   * @param isRepeat Whether an earlier call with these rows may have written them.
   */
  async append(values: readonly RowValue[], isRepeat: boolean): Promise<void> {
    const keys = this.#newKeys(values);
    const rows = placedRows(values);
    const least = Number(rows.at(-1)?.least ?? 0);
    const known = JSON.stringify([...keys].map(([key_id, account_id]) => ({ key_id, account_id })));
    const write = () =>
      this.#run(isRepeat ? APPEND_MISSING : APPEND, [JSON.stringify(rows), known, rows.length, least]);
    for (const day of new Set(rows.map(({ ended_at }) => dayOf(Number(ended_at))))) await this.#addDay(day);
    try {
      await write();
    } catch (error) {
      if (codeOf(error) !== NO_PARTITION) throw error;
      await this.#addDaysOfNext(rows);
      await write();
    }
    if (this.#knownKeys.size + keys.size > MAX_KNOWN_KEYS) this.#knownKeys.clear();
    for (const key of keys.keys()) this.#knownKeys.add(key);
  }

  /** The request with this id; null if there is none. */
  async get(requestId: string): Promise<StoredRow | null> {
    const [row] = await this.#run(`select ${SELECTED} from requests where request_id = $1 limit 1`, [requestId]);
    return row as StoredRow | undefined ?? null;
  }

  /** See {@linkcode SearchedRows}. */
  async select({ condition: { sql, values }, order }: VisitedRows, limit: number): Promise<readonly StoredRow[]> {
    const text = `select ${SELECTED} from requests where ${sql} order by position ${order} limit ?`;
    return await this.#run(numbered(text), [...values, limit]) as unknown as readonly StoredRow[];
  }

  /** See {@linkcode SearchedRows}. */
  async positionAt({ condition: { sql, values }, order }: VisitedRows, offset: number): Promise<number | null> {
    const text = `select position from requests where ${sql} order by position ${order} limit 1 offset ?`;
    const [row] = await this.#run(numbered(text), [...values, offset]);
    return row === undefined ? null : Number(row.position);
  }

  /** Removes up to `limit` of the oldest rows before a position. Returns their number. */
  async deleteBefore(position: number, limit: number): Promise<number> {
    return await this.#delete("position < $1", position, limit);
  }

  /** Removes up to `limit` of the oldest rows of an account. Returns their number. */
  async deleteOf(account: string, limit: number): Promise<number> {
    await this.sql`delete from keys where account_id = ${account}`;
    this.#knownKeys.clear();
    return await this.#delete("account_id = $1", account, limit);
  }

  /** The days that have rows, oldest first. */
  async partitions(): Promise<readonly Partition[]> {
    const rows = await this.sql<{ name: string; bytes: string }[]>`
      select c.relname as name, pg_total_relation_size(c.oid) as bytes
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'requests'::regclass order by c.relname`;
    return rows.map(({ name, bytes }) => ({ name, start: startOf(name), bytes: Number(bytes) }));
  }

  /** Removes the rows of a day. */
  async drop({ name, start }: Partition): Promise<void> {
    this.#days.delete(start);
    await this.sql`drop table if exists ${this.sql(name)}`;
  }

  /** Closes the connections. */
  async close(): Promise<void> {
    await this.sql.end({ timeout: 1 });
  }

  #newKeys(values: readonly RowValue[]): Map<string, string | null> {
    const keys = new Map<string, string | null>();
    for (let at = 0; at < values.length; at += WIDTH) {
      const [key, account] = [values[at + KEY_COLUMN], values[at + ACCOUNT_COLUMN]];
      if (typeof key !== "string" || this.#knownKeys.has(key)) continue;
      keys.set(key, typeof account === "string" ? account : null);
    }
    return keys;
  }

  /** Adds the partition of a day. Another gateway may add it at the same time. */
  async #addDay(day: number): Promise<void> {
    if (this.#days.has(day)) return;
    await this.sql.unsafe(partitionOf(day)).catch((error) => {
      if (!ADDED_BY_ANOTHER.has(codeOf(error))) throw error;
    });
    this.#days.add(day);
  }

  /** Adds the partitions of rows that follow the last position, which is later if another gateway's clock is ahead. */
  async #addDaysOfNext(rows: readonly PlacedRow[]): Promise<void> {
    this.#days.clear();
    const [row] = await this.#run("select position from last_position", []);
    const last = Number(row?.position ?? 0);
    for (const { ended_at, n } of rows) {
      const position = Math.max(last + Number(n), Number(ended_at) * POSITIONS_PER_MS);
      await this.#addDay(dayOf(position / POSITIONS_PER_MS));
    }
  }

  async #delete(sql: string, value: string | number, limit: number): Promise<number> {
    const removed = await this.#run(
      `delete from requests where position in (select position from requests where ${sql} order by position limit $2)`,
      [value, limit],
    );
    return removed.count;
  }

  #run(text: string, values: (string | number)[]) {
    return this.sql.unsafe(text, values, { prepare: true });
  }
}

/** Why a statement of the log failed, without values. */
export function logFailureOf(error: unknown): string {
  return reasonOf(error);
}

/** Writes rows (`$1`), keys (`$2`) and the last position, from the number of rows (`$3`) and their `least` (`$4`). */
function appendStatement(condition: string): string {
  const columns = ROW_COLUMNS.map((name) => `r.${name}`).join(", ");
  return `
    with moved as (
      update last_position set position = $3::int + greatest(before.position, $4::bigint)
      from (select position from last_position for update) before
      returning before.position as last
    ), written as (
      insert into requests (${SELECTED})
      select r.n + greatest(moved.last, r.least), ${columns}
      from jsonb_to_recordset($1::text::jsonb) as r (${RECORD}), moved where ${condition}
    )
    insert into keys
    select r.key_id, r.account_id from jsonb_to_recordset($2::text::jsonb) as r (key_id text, account_id text)
    on conflict (key_id) do update set account_id = excluded.account_id`;
}

/** Rows as objects for `jsonb`, which takes no lone surrogates: numbered, with the `least` of all up to each. */
function placedRows(values: readonly RowValue[]): PlacedRow[] {
  const rows: PlacedRow[] = [];
  let least = 0;
  for (let at = 0; at < values.length; at += WIDTH) {
    const n = rows.length + 1;
    least = Math.max(least, Number(values[at]) * POSITIONS_PER_MS - n);
    const row: Record<string, RowValue> = { n, least };
    for (const [column, name] of ROW_COLUMNS.entries()) {
      const value = values[at + column] ?? null;
      row[name] = typeof value === "string" ? value.toWellFormed() : value;
    }
    rows.push(row);
  }
  return rows;
}

function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

/** `requests_20261123`. */
function nameOf(day: number): string {
  return `requests_${new Date(day).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

function startOf(name: string): number {
  const [, year, month, day] = /^requests_(\d{4,6})(\d\d)(\d\d)$/.exec(name) ?? [];
  return Date.UTC(Number(year), Number(month) - 1, Number(day));
}

function partitionOf(day: number): string {
  const [from, to] = [day * POSITIONS_PER_MS, (day + DAY_MS) * POSITIONS_PER_MS];
  return `create table if not exists ${nameOf(day)} partition of requests for values from (${from}) to (${to})`;
}

/** The end of a day's rows in Unix milliseconds. */
export function endOf({ start }: Pick<Partition, "start">): number {
  return start + DAY_MS;
}

/** PostgreSQL numbers its parameters. */
function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll("?", () => `$${++count}`);
}
