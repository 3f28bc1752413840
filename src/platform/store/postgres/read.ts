import { deserialize } from "node:v8";
import { decodeKey, encodeKey, encodeStorableKey } from "../key_encoding.ts";
import type { ChargedAccounts } from "../engine.ts";
import type { Balance, Entry, Key, StoredLedgerEntry } from "../store.ts";
import { byteArrayOf, bytesOf, type Database, encodedOf, read } from "./database.ts";
import { POSTGRES_LIMITS } from "./limits.ts";

/** One page of a range. */
export interface Page<Place> {
  /** The place to start after. */
  readonly after?: Place | undefined;
  readonly limit: number;
  readonly reverse?: boolean;
}

const { maxKeyBytes, maxKeysPerRead } = POSTGRES_LIMITS;

/** A database and the time for its statements; null if the server reads its own clock. */
export interface Readable {
  readonly sql: Database;
  readonly now: number | null;
}

/** Reads the callers' values under these keys; null where there is none or it has expired. */
export async function readValues<T>(from: Readable, keys: readonly Key[]): Promise<(Entry<T> | null)[]> {
  const ids = keys.map((key) => encodeStorableKey(key, maxKeyBytes));
  const wanted = [...new Set(ids.filter((id) => id !== null))];
  const found = new Map<string, ValueRow>();
  const parts: Promise<void>[] = [];
  for (let i = 0; i < wanted.length; i += maxKeysPerRead) {
    parts.push(readPart(from, wanted.slice(i, i + maxKeysPerRead), found));
  }
  await Promise.all(parts);
  return ids.map((id, i) => {
    const row = id === null ? undefined : found.get(id);
    return row ? { key: keys[i] ?? [], value: deserialize(row.value) as T, version: row.version } : null;
  });
}

interface ValueRow {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly version: string;
}

async function readPart({ sql, now }: Readable, part: readonly string[], found: Map<string, ValueRow>): Promise<void> {
  const rows = await read(() =>
    sql<ValueRow[]>`
      select key, value, version::text from switchyard.value
      where key = any(${byteArrayOf(part)}::text::bytea[])
        and (expires_at is null or expires_at > coalesce(${now}::float8, switchyard.now_ms()))`
  );
  for (const row of rows) found.set(encodedOf(row.key), row);
}

/** Lists callers' entries below a prefix in key order, or against it with `reverse`. */
export async function scanValues<T>({ sql, now }: Readable, prefix: Key, page: Page<Key>): Promise<Entry<T>[]> {
  const { after, limit, reverse = false } = page;
  const below = encodeStorableKey(prefix, maxKeyBytes);
  const place = after === undefined ? undefined : encodeStorableKey(after, maxKeyBytes);
  if (below === null || place === null || limit <= 0) return [];
  // No part of a key starts with 0xff: after the prefix it is inside of a longer text.
  let [start, end] = [below, `${below}\xff`];
  if (place !== undefined && reverse && place < end) end = place;
  if (place !== undefined && !reverse && place > start) start = place;
  const [low, high] = [bytesOf(start), bytesOf(end)];
  const rows = await read(() =>
    sql<ValueRow[]>`
      select key, value, version::text from switchyard.value
      where key > ${low} and key < ${high}
        and (expires_at is null or expires_at > coalesce(${now}::float8, switchyard.now_ms()))
      order by key ${reverse ? sql`desc` : sql`asc`} limit ${limit}`
  );
  return rows.map(({ key, value, version }) => ({
    key: decodeKey(encodedOf(key)),
    value: deserialize(value) as T,
    version,
  }));
}

/** Reads an account's money; zero for an unknown account. */
export async function readBalance({ sql }: Readable, account: string): Promise<Balance> {
  const name = encodeStorableKey([account], maxKeyBytes);
  if (name === null) return NOTHING;
  const [row] = await read(() =>
    sql<{ available: string; held: string; overdraft: string }[]>`
      select available::text, held::text, overdraft::text from switchyard.account where name = ${bytesOf(name)}`
  );
  if (!row) return NOTHING;
  const overdraft = BigInt(row.overdraft);
  return {
    available: BigInt(row.available),
    held: BigInt(row.held),
    ...(overdraft !== 0n && { overdraft }),
  };
}

const NOTHING: Balance = { available: 0n, held: 0n };

interface LedgerRow {
  readonly id: string;
  readonly reference: Uint8Array;
  readonly available: string;
  readonly held: string;
  readonly at: number;
  readonly detail: Uint8Array | null;
}

/** Lists an account's ledger entries, oldest first, or newest first with `reverse`. */
export async function readLedger(
  { sql }: Readable,
  account: string,
  { after, limit, reverse = false }: Page<string>,
): Promise<StoredLedgerEntry[]> {
  // The server takes no text with a zero; no id has one.
  if (limit <= 0 || encodeStorableKey([account], maxKeyBytes) === null || after?.includes("\0")) return [];
  const name = bytesOf(encodeKey([account]));
  const place = after === undefined ? sql`` : reverse ? sql`and id < ${after}` : sql`and id > ${after}`;
  const rows = await read(() =>
    sql<LedgerRow[]>`
      select id, reference, available::text, held::text, at, detail from switchyard.ledger
      where account = ${name} ${place}
      order by id ${reverse ? sql`desc` : sql`asc`} limit ${limit}`
  );
  return rows.map(({ id, reference, available, held, at, detail }) => {
    const [operation = "", of = ""] = decodeKey(encodedOf(reference)).map(String);
    return {
      id,
      at,
      account,
      operation,
      reference: of,
      available: BigInt(available),
      held: BigInt(held),
      ...(detail !== null && { detail: deserialize(detail) }),
    };
  });
}

/** A commit has its time before it takes effect, within the time limit of its statement. */
const MAX_COMMIT_MS = 10_000;

/** Lists the accounts whose ledgers got entries since a time, with those whose commits took effect since. */
export async function readChargedAccounts({ sql, now }: Readable, since: number | null): Promise<ChargedAccounts> {
  const rows = await read(() =>
    sql<{ until: number; account: Uint8Array | null }[]>`
      with present as (select coalesce(${now}::float8, switchyard.now_ms()) as until)
      select present.until, l.account from present left join (
        select distinct account from switchyard.ledger where at >= ${since}::float8 - ${MAX_COMMIT_MS}::float8
      ) l on true`
  );
  const accounts = rows.flatMap(({ account }) => account === null ? [] : [String(decodeKey(encodedOf(account))[0])]);
  return { accounts, until: rows[0]?.until ?? 0 };
}
