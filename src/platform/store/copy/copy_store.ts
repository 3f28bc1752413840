import { deserialize, serialize } from "node:v8";
import type { Money } from "../../lib/basics/money.ts";
import { encodeKey } from "../key_encoding.ts";
import { bytesOf, checkServer, connect, type Database, placeOf, reasonOf } from "../postgres/database.ts";
import { DATABASE_LOCK } from "../postgres/database_lock.ts";
import { prepareSchema } from "../postgres/migrate.ts";
import type { Store } from "../store.ts";
import { StoreUnusableError } from "../store_unusable_error.ts";
import {
  COPIED_TABLES,
  type CopiedTable,
  type Fingerprint,
  fingerprintQuery,
  FingerprintSum,
  rowsIn,
} from "./tables.ts";

/** What {@linkcode copyStore} copies, and where to. */
export interface StoreCopyOptions {
  /** The engine of the file, which this process has locked. No charge is left in its journal. */
  readonly store: Store;
  /** The same file. */
  readonly kv: Deno.Kv;
  /** `postgres://user:password@host/database` with `sslmode` and other parameters. */
  readonly url: string;
  /** Called after some rows of a table and after its last one. */
  readonly onProgress: (rows: string, count: number) => void;
}

/** What was copied and compared. */
export interface StoreCopy {
  /** The number of rows of each table, by what they are. */
  readonly counts: ReadonlyMap<string, number>;
  /** The sums of all balances in the database. */
  readonly available: Money;
  readonly held: Money;
  /** Accounts whose balance is not the sum of their ledger entries, in the file as in the database. */
  readonly unequalAccounts: number;
  /** Whether an earlier copy was replaced. */
  readonly isRepeated: boolean;
}

/** Identifies a store of a file in copies of it. */
const ID_KEY = ["store_copy", "id"];
/** In a copy: the id of its original, and the fingerprints of its tables right after it was made. */
const MARK_KEY = ["store_copy", "mark"];

const BATCH_ROWS = 1_000;
const BATCH_BYTES = 1024 * 1024;
const PROGRESS_ROWS = 100_000;

/**
 * Copies the store of a stopped gateway from a Deno KV file into an empty PostgreSQL database, or over an earlier copy
 * of the same file that was not used since. All rows are written and compared in one transaction: a copy that is
 * interrupted leaves nothing behind and can be repeated.
 *
 * @throws {StoreUnusableError} If the database cannot be used, another process uses it, it has other content, or what
 * it has after the copy is not what the file has. Nothing is written then.
 */
export async function copyStore({ store, kv, url, onProgress }: StoreCopyOptions): Promise<StoreCopy> {
  const place = placeOf(url);
  const sql = connect({ url, maxConnections: 1, statementTimeoutMs: 0 });
  try {
    await checkServer(sql, place);
    await prepareSchema(sql, place);
    const id = await idOf(store);
    return await sql.begin(async (transaction): Promise<StoreCopy> => {
      await transaction`set local idle_in_transaction_session_timeout = 0`;
      const target: Target = { sql: transaction as unknown as Database, place };
      await lockStore(target);
      const isRepeated = await makeRoom(target, id);
      const counts = new Map<string, number>();
      for (const table of COPIED_TABLES) {
        const read = await copyTable(target.sql, { kv, table, now: store.now(), onProgress });
        await assertEqual(target, table, read);
        counts.set(table.rows, read.count);
      }
      const sums = await sumsOf(target.sql);
      await writeMark(target.sql, id);
      return { counts, ...sums, isRepeated };
    }) as StoreCopy;
  } catch (error) {
    if (error instanceof StoreUnusableError) throw error;
    throw new StoreUnusableError(`Cannot copy to the store at ${place}: ${reasonOf(error)}; nothing was written`);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

interface Target {
  readonly sql: Database;
  readonly place: string;
}

/** Takes the lock of a gateway until the end of the transaction, so that it cannot be lost before. */
async function lockStore({ sql, place }: Target): Promise<void> {
  const [row] = await sql`select pg_try_advisory_xact_lock(${DATABASE_LOCK}) as taken`;
  if (row?.taken === true) return;
  throw new StoreUnusableError(`Cannot copy to the store at ${place}: another process uses it. Stop its gateway first`);
}

/** The id of a store. A store gets one with its first copy. */
async function idOf(store: Store): Promise<string> {
  const [entry] = await store.get<string>([ID_KEY]);
  if (entry) return entry.value;
  const id = crypto.randomUUID();
  await store.commit(null, { check: [{ key: ID_KEY, version: null }], set: [{ key: ID_KEY, value: id }] });
  return id;
}

/** Removes an earlier copy of the same store. Returns whether there was one. */
async function makeRoom({ sql, place }: Target, id: string): Promise<boolean> {
  if (await isEmpty(sql)) return false;
  const mark = await readMark(sql);
  if (mark?.id !== id) {
    throw new StoreUnusableError(
      `Cannot copy to the store at ${place}: it is not empty, and what it has is not a copy of this store. ` +
        "Choose an empty database",
    );
  }
  if (mark.content !== await contentOf(sql)) {
    throw new StoreUnusableError(
      `Cannot copy to the store at ${place}: it is a copy of this store that was used since, and a new copy would ` +
        'undo what happened there. To discard that, run "drop schema switchyard cascade" in the database',
    );
  }
  for (const { table } of COPIED_TABLES) await sql.unsafe(`delete from switchyard.${table}`);
  return true;
}

async function isEmpty(sql: Database): Promise<boolean> {
  for (const { table } of COPIED_TABLES) {
    const [row] = await sql.unsafe(`select exists (select from switchyard.${table}) as found`);
    if (row?.found === true) return false;
  }
  return true;
}

/** Copies the rows of a table. Returns the fingerprint of what was read. */
async function copyTable(
  sql: Database,
  { kv, table, now, onProgress }: {
    readonly kv: Deno.Kv;
    readonly table: CopiedTable;
    readonly now: number;
    readonly onProgress: StoreCopyOptions["onProgress"];
  },
): Promise<Fingerprint> {
  const read = new FingerprintSum();
  let batch: string[] = [];
  let bytes = 0;
  const flush = async () => {
    if (batch.length > 0) await sql.unsafe(table.insert, [`[${batch.join(",")}]`]);
    batch = [];
    bytes = 0;
  };
  for await (const { columns, line } of rowsIn(kv, table, now)) {
    read.add(line);
    const text = JSON.stringify(columns);
    batch.push(text);
    bytes += text.length;
    if (batch.length === BATCH_ROWS || bytes >= BATCH_BYTES) await flush();
    const { count } = read;
    if (count % PROGRESS_ROWS === 0) onProgress(table.rows, count);
  }
  await flush();
  onProgress(table.rows, read.count);
  return read.fingerprint;
}

async function fingerprintOf(sql: Database, table: CopiedTable, condition: string): Promise<Fingerprint> {
  const [row] = await sql.unsafe(fingerprintQuery(table, condition));
  return { count: Number(row?.count), sum: String(row?.sum) };
}

/** Compares the rows of a table with what was read: every column of every row. */
async function assertEqual({ sql, place }: Target, table: CopiedTable, read: Fingerprint): Promise<void> {
  const written = await fingerprintOf(sql, table, "true");
  if (written.count === read.count && written.sum === read.sum) return;
  throw new StoreUnusableError(
    `Cannot copy to the store at ${place}: the ${written.count} ${table.rows} there differ from the ${read.count} ` +
      "that were read; nothing was written",
  );
}

async function sumsOf(sql: Database): Promise<Pick<StoreCopy, "available" | "held" | "unequalAccounts">> {
  const [row] = await sql<{ available: string; held: string; unequal: number }[]>`
    select coalesce(sum(a.available), 0)::text as available, coalesce(sum(a.held), 0)::text as held,
      (count(*) filter (where a.available <> l.available or a.held <> l.held or a.entries <> l.entries))::int as unequal
    from switchyard.account a cross join lateral (
      select coalesce(sum(e.available), 0) as available, coalesce(sum(e.held), 0) as held, count(*) as entries
      from switchyard.ledger e where e.account = a.name
    ) l`;
  return {
    available: BigInt(row?.available ?? 0),
    held: BigInt(row?.held ?? 0),
    unequalAccounts: row?.unequal ?? 0,
  };
}

interface Mark {
  readonly id: string;
  readonly content: string;
}

const markKey = () => bytesOf(encodeKey(MARK_KEY));

async function writeMark(sql: Database, id: string): Promise<void> {
  const mark: Mark = { id, content: await contentOf(sql) };
  await sql`
    insert into switchyard.value (key, value, version)
    values (${markKey()}, ${serialize(mark)}, nextval('switchyard.version'))`;
}

async function readMark(sql: Database): Promise<Mark | null> {
  const [row] = await sql<{ value: Uint8Array }[]>`select value from switchyard.value where key = ${markKey()}`;
  return row ? deserialize(row.value) as Mark : null;
}

/** The fingerprints of what changes only when a store is used. */
async function contentOf(sql: Database): Promise<string> {
  const mark = Array.from(markKey(), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const parts: string[] = [];
  for (const table of COPIED_TABLES) {
    const condition = table.table === "value" ? `${table.lasting} and t.key <> '\\x${mark}'` : table.lasting;
    const { count, sum } = await fingerprintOf(sql, table, condition);
    parts.push(`${count} ${sum}`);
  }
  return parts.join(", ");
}
