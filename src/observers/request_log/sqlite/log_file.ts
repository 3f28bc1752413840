import { DatabaseSync, type StatementSync } from "node:sqlite";
import { ROW_COLUMNS, type RowValue, type StoredRow } from "../row.ts";
import { requestTimeOf } from "../../../platform/lib/basics/ids.ts";
import { POSITIONS_PER_MS, type RowSource, type SearchedRows, type VisitedRows } from "../search.ts";
import { migrate, QUICK_POSITIONS } from "./schema.ts";

/** Rows of one insert: a statement costs more than a row. */
const ROWS_PER_INSERT = 16;

const SELECTED = ["position", ...ROW_COLUMNS].join(", ");
/** The written columns. */
const COLUMNS = ["position", "is_slow", ...ROW_COLUMNS];
const WIDTH = ROW_COLUMNS.length;
const ACCOUNT_COLUMN = ROW_COLUMNS.indexOf("account_id");
const KEY_COLUMN = ROW_COLUMNS.indexOf("key_id");
const ID_COLUMN = ROW_COLUMNS.indexOf("request_id");

/** The planner does not know that the rows with texts are few. */
const TABLES: Readonly<Record<RowSource, string>> = {
  all: "requests",
  texts: "requests INDEXED BY requests_by_text",
};

/** A value that a statement takes. */
type Bound = string | number | bigint | null;

/** The file of the log: SQLite in WAL mode. All calls block; it belongs into a thread. */
export class LogFile implements SearchedRows {
  /** See {@linkcode SearchedRows}. */
  readonly dialect = {
    placeOf: "instr",
    like: "LIKE",
    facts: "facts",
    attempts: "attempts",
    membersOf: "json_each",
  } as const;
  readonly #database: DatabaseSync;
  readonly #insertMany: StatementSync;
  readonly #insertOne: StatementSync;
  readonly #statements = new Map<string, StatementSync>();
  /** Keys whose accounts the file has. */
  readonly #knownKeys = new Set<RowValue>();

  /**
   * Opens the file, creates it if it is missing, and migrates its schema.
   *
   * @param path `:memory:` for none.
   * @throws {Error} If it cannot be opened, is damaged, or was written by a later version.
   */
  constructor(path: string) {
    this.#database = new DatabaseSync(path, { timeout: BUSY_MS });
    try {
      // auto_vacuum takes effect only before the first table. FULL sync would wait for the disk at each commit: without
      // it a commit survives the end of the process, and the last seconds may be lost with the power.
      this.#database.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
      // Rows that move to another page leave no copy behind, which the removal of an account would not find.
      this.#database.exec("PRAGMA secure_delete = FAST");
      this.#database.exec(`PRAGMA journal_size_limit = ${MAX_WAL_BYTES}; PRAGMA cache_size = -${CACHE_KIB}`);
      migrate(this.#database);
      this.#insertMany = this.#database.prepare(insertOf(ROWS_PER_INSERT));
      this.#insertOne = this.#database.prepare(insertOf(1));
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /**
   * Appends rows in one transaction.
   *
   * @param values Of {@linkcode ROW_COLUMNS}, one row after the other. The first column is when the request ended.
   * @throws {Error} If the file takes no rows. None of them is written then.
   */
  append(values: readonly RowValue[]): void {
    this.#transaction(() => {
      let last = Number(this.#prepared("SELECT max(position) AS last FROM requests").get()?.last ?? 0);
      const bound: Bound[] = [];
      for (let at = 0; at < values.length; at += WIDTH) {
        last = Math.max(last + 1, Number(values[at]) * POSITIONS_PER_MS);
        bound.push(last, isQuick(last, String(values[at + ID_COLUMN])) ? null : 1);
        this.#rememberKey(values[at + KEY_COLUMN] ?? null, values[at + ACCOUNT_COLUMN] ?? null);
        for (let column = at; column < at + WIDTH; column++) bound.push(values[column] ?? null);
        if (bound.length < ROWS_PER_INSERT * COLUMNS.length) continue;
        this.#insertMany.run(...bound);
        bound.length = 0;
      }
      for (let at = 0; at < bound.length; at += COLUMNS.length) {
        this.#insertOne.run(...bound.slice(at, at + COLUMNS.length));
      }
    });
  }

  /** The request with this id; null if there is none. */
  get(requestId: string): StoredRow | null {
    const from = arrivalOf(requestId);
    const found = this.#prepared(
      `SELECT ${SELECTED} FROM requests WHERE position >= ? AND position < ? AND request_id = ? LIMIT 1`,
    ).get(from, from + QUICK_POSITIONS, requestId) ??
      this.#prepared(`SELECT ${SELECTED} FROM requests WHERE is_slow = 1 AND request_id = ? LIMIT 1`).get(requestId);
    return (found as StoredRow | undefined) ?? null;
  }

  /** See {@linkcode SearchedRows}. */
  select({ source, condition: { sql, values }, order }: VisitedRows, limit: number): StoredRow[] {
    const statement = this.#prepared(
      `SELECT ${SELECTED} FROM ${TABLES[source]} WHERE ${sql} ORDER BY position ${order} LIMIT ?`,
    );
    return statement.all(...values, limit) as unknown as StoredRow[];
  }

  /** See {@linkcode SearchedRows}. */
  positionAt({ source, condition: { sql, values }, order }: VisitedRows, offset: number): number | null {
    const statement = this.#prepared(
      `SELECT position FROM ${TABLES[source]} WHERE ${sql} ORDER BY position ${order} LIMIT 1 OFFSET ?`,
    );
    const row = statement.get(...values, offset);
    return row === undefined ? null : Number(row.position);
  }

  /** Removes up to `limit` of the oldest rows before a position. Returns their number. */
  deleteBefore(position: number, limit: number): number {
    return this.#delete("position < ?", position, limit);
  }

  /**
   * Overwrites the texts of up to `limit` rows of an account with as many bytes, which SQLite does in place. A deletion
   * alone moves other rows to other pages, and their texts would stay where they were.
   *
   * @param after The position to continue after; 0 for the first rows.
   * @returns The position of the last row; null after the last one.
   */
  overwriteOf(account: string, after: number, limit: number): number | null {
    const rows = `SELECT position FROM requests WHERE account_id = ? AND position > ? ORDER BY position LIMIT ?`;
    const last = this.#prepared(`SELECT max(position) AS last FROM (${rows})`).get(account, after, limit)?.last ?? null;
    if (last === null) return null;
    const sets = TEXT_COLUMNS.map((name) => `${name} = iif(${name} IS NULL, NULL, ${sameLengthAs(name)})`).join(", ");
    this.#erasing(() =>
      this.#prepared(`UPDATE requests SET ${sets} WHERE account_id = ? AND position > ? AND position <= ?`)
        .run(account, after, last)
    );
    return Number(last);
  }

  /** Removes up to `limit` of the oldest rows of an account and overwrites their bytes. Returns their number. */
  deleteOf(account: string, limit: number): number {
    return this.#erasing(() => {
      this.#prepared("DELETE FROM keys WHERE account_id = ?").run(account);
      this.#knownKeys.clear();
      return this.#delete("account_id = ?", account, limit);
    });
  }

  /** Bytes of the file that hold rows and indexes. */
  get usedBytes(): number {
    return (this.#pragma("page_count") - this.#pragma("freelist_count")) * this.#pragma("page_size");
  }

  /** Gives up to `pages` unused pages back to the file system. Returns whether more are left. */
  shrink(pages: number): boolean {
    this.#database.exec(`PRAGMA incremental_vacuum(${pages})`);
    return this.#pragma("freelist_count") > 0;
  }

  /** Moves what the write-ahead log holds to the file, and empties it, so that removed rows are in neither. */
  checkpoint(): void {
    this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  /** Closes the file. */
  close(): void {
    this.#database.close();
  }

  /** The rows of a key are found among those of its account: an index by key would cost a fifth of the write. */
  #rememberKey(key: RowValue, account: RowValue): void {
    if (key === null || this.#knownKeys.has(key)) return;
    this.#prepared("INSERT OR REPLACE INTO keys VALUES (?, ?)").run(key, account);
    if (this.#knownKeys.size >= MAX_KNOWN_KEYS) this.#knownKeys.clear();
    this.#knownKeys.add(key);
  }

  /** Overwrites all bytes that a change frees. */
  #erasing<T>(change: () => T): T {
    this.#database.exec("PRAGMA secure_delete = ON");
    try {
      return change();
    } finally {
      this.#database.exec("PRAGMA secure_delete = FAST");
    }
  }

  #delete(sql: string, value: Bound, limit: number): number {
    const statement = this.#prepared(
      `DELETE FROM requests WHERE position IN (SELECT position FROM requests WHERE ${sql} ORDER BY position LIMIT ?)`,
    );
    return Number(statement.run(value, limit).changes);
  }

  #pragma(name: string): number {
    return Number(this.#prepared(`PRAGMA ${name}`).get()?.[name]);
  }

  #transaction(work: () => void): void {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      work();
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#knownKeys.clear();
      try {
        this.#database.exec("ROLLBACK");
      } catch { /* SQLite has rolled back already, as it does when the disk is full */ }
      throw error;
    }
  }

  /** Statements are few: their text depends on which filters are set, not on the values. */
  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
      this.#statements.set(sql, statement = this.#database.prepare(sql));
    }
    return statement;
  }
}

/** The position of a request's arrival, from its id; 0 for a text that is not the id of a request. */
function arrivalOf(requestId: string): number {
  return requestTimeOf(requestId) * POSITIONS_PER_MS;
}

/** Whether {@linkcode LogFile.get} finds a row by the time in its id. */
function isQuick(position: number, requestId: string): boolean {
  const after = position - arrivalOf(requestId);
  return after >= 0 && after < QUICK_POSITIONS;
}

/** Another process, such as a command, may hold the file for the time of a transaction. */
const BUSY_MS = 2_000;
const MAX_WAL_BYTES = 16_777_216;
const CACHE_KIB = 8_192;
const MAX_STATEMENTS = 64;
const MAX_KNOWN_KEYS = 10_000;

/** Columns with texts of callers, vendors and operators. */
const TEXT_COLUMNS = ["model", "served_model", "message", "attempts", "facts"];

function sameLengthAs(name: string): string {
  return `printf('%.*c', length(CAST(${name} AS BLOB)), 'x')`;
}

function insertOf(rows: number): string {
  const row = `(${COLUMNS.map(() => "?").join(", ")})`;
  return `INSERT INTO requests (${COLUMNS.join(", ")}) VALUES ${Array.from({ length: rows }, () => row).join(", ")}`;
}
