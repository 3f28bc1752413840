import { cloneValue } from "../clone_value.ts";
import { encodeKey, encodeStorableKey, isBelow } from "../key_encoding.ts";
import type { Entry, Key, StoredLedgerEntry } from "../store.ts";
import { isExpired, type StoredLedgerTuple, type StoredValue } from "./commit_transaction.ts";
import { keyOfKv, kvKeyOf, ledgerEntryKey, valueKey } from "./keys.ts";
import { KV_LIMITS } from "./limits.ts";
import type { VersionedValue } from "./transaction.ts";
import type { ValueCache } from "./value_cache.ts";

/** One page of a range. */
export interface Page<Place> {
  /** The place to start after. */
  readonly after?: Place;
  readonly limit: number;
  readonly reverse?: boolean;
}

const { maxKeyBytes, maxKeysPerRead } = KV_LIMITS;
const MAX_BATCH_ENTRIES = 500;

/** A key to read. */
interface KeyToRead {
  readonly key: Key;
  /** The encoded key; null for a key that was never written. */
  readonly id: string | null;
}

/** A key that can have a value. */
interface StorableKey extends KeyToRead {
  readonly id: string;
}

/**
 * Reads the callers' values under these keys; null where there is none or it has expired. When all keys are cached,
 * nothing is read. Otherwise all keys are read, so that the values are of one instant.
 */
export async function readValues<T>(
  kv: Deno.Kv,
  cache: ValueCache,
  keys: readonly Key[],
  now: number,
): Promise<(Entry<T> | null)[]> {
  const wanted = keys.map((key): KeyToRead => ({ key, id: valueIdOf(key) }));
  const cached = wanted.map(({ id }) => id === null ? ABSENT : cache.get(id));
  const values = cached.every((value) => value !== undefined) ? cached : await readAll(kv, cache, wanted);
  return wanted.map(({ key, id }, i) => {
    const value = values[i] ?? ABSENT;
    // Cached values are shared, so every caller gets a copy.
    return entryOf<T>(key, value, now, id !== null && cache.get(id) === value);
  });
}

const ABSENT: VersionedValue = { value: undefined, version: null };
const VALUE_AREA = encodeKey(valueKey([]));

function valueIdOf(key: Key): string | null {
  const encoded = encodeStorableKey(key, maxKeyBytes);
  return encoded === null ? null : VALUE_AREA + encoded;
}

async function readAll(kv: Deno.Kv, cache: ValueCache, wanted: readonly KeyToRead[]): Promise<VersionedValue[]> {
  const storable = wanted.filter((each): each is StorableKey => each.id !== null);
  const parts: Promise<VersionedValue[]>[] = [];
  for (let i = 0; i < storable.length; i += maxKeysPerRead) {
    parts.push(readPart(kv, cache, storable.slice(i, i + maxKeysPerRead)));
  }
  const found = (await Promise.all(parts)).flat();
  return wanted.map(({ id }) => id === null ? ABSENT : found.shift() ?? ABSENT);
}

/** Reads at most {@linkcode maxKeysPerRead} keys and caches what was found. */
async function readPart(kv: Deno.Kv, cache: ValueCache, part: readonly StorableKey[]): Promise<VersionedValue[]> {
  const reading = cache.beginRead(part.map(({ id }) => id));
  let values: VersionedValue[] = [];
  try {
    const entries = await kv.getMany<StoredValue[]>(part.map(({ key }) => kvKeyOf(valueKey(key))));
    values = entries.map(({ value, versionstamp }) => {
      return versionstamp === null ? ABSENT : { value, version: versionstamp };
    });
    return values;
  } finally {
    cache.endRead(reading, part.map(({ key }) => valueKey(key)), values);
  }
}

function entryOf<T>(key: Key, { value, version }: VersionedValue, now: number, isShared: boolean): Entry<T> | null {
  const stored = value as StoredValue;
  if (version === null || isExpired(stored, now)) return null;
  return { key, value: (isShared ? cloneValue(stored[0]) : stored[0]) as T, version };
}

/** Lists callers' entries below a prefix in key order, or against it with `reverse`. */
export async function scanValues<T>(kv: Deno.Kv, prefix: Key, page: Page<Key>, now: number): Promise<Entry<T>[]> {
  const { limit, reverse = false } = page;
  const selector = selectorOf(prefix, page);
  if (!selector) return [];
  const after = page.after && encodeKey(page.after);
  const entries: Entry<T>[] = [];
  if (limit <= 0) return entries;
  for await (const { key, value, versionstamp } of listOf<StoredValue>(kv, selector, limit + 1, reverse)) {
    const own = keyOfKv(key).slice(1);
    // A range begins with its start, so that only the first entry can be the one to continue after.
    const isFirst = entries.length === 0;
    if (isExpired(value, now) || (isFirst && after !== undefined && encodeKey(own) === after)) continue;
    entries.push({ key: own, value: value[0] as T, version: versionstamp });
    if (entries.length === limit) break;
  }
  return entries;
}

/** The range to list; null when it is empty. Deno KV refuses a start or an end outside the prefix. */
function selectorOf(prefix: Key, { after, reverse }: Page<Key>): Deno.KvListSelector | null {
  const encodedPrefix = encodeStorableKey(prefix, maxKeyBytes);
  if (encodedPrefix === null) return null;
  const all = { prefix: kvKeyOf(valueKey(prefix)) };
  if (after === undefined) return all;
  const encoded = encodeStorableKey(after, maxKeyBytes);
  if (encoded === null) return null;
  if (!isBelow(encoded, encodedPrefix)) return (encoded <= encodedPrefix) === !reverse ? all : null;
  const place = kvKeyOf(valueKey(after));
  return reverse ? { ...all, end: place } : { ...all, start: place };
}

/** Lists an account's ledger entries, oldest first, or newest first with `reverse`. */
export async function readLedger(kv: Deno.Kv, account: string, page: Page<string>): Promise<StoredLedgerEntry[]> {
  const { after, limit, reverse = false } = page;
  const found: StoredLedgerEntry[] = [];
  if (limit <= 0 || encodeStorableKey([account, after ?? ""], maxKeyBytes) === null) return found;
  const prefix = kvKeyOf(ledgerEntryKey(account, "").slice(0, -1));
  const place = after === undefined ? {} : { [reverse ? "end" : "start"]: kvKeyOf(ledgerEntryKey(account, after)) };
  for await (const { key, value } of listOf<StoredLedgerTuple>(kv, { prefix, ...place }, limit + 1, reverse)) {
    const id = String(key.at(-1));
    if (id === after) continue;
    found.push(ledgerEntryOf(account, id, value));
    if (found.length === limit) break;
  }
  return found;
}

function ledgerEntryOf(account: string, id: string, stored: StoredLedgerTuple): StoredLedgerEntry {
  const [operation, reference, available, held, at, detail] = stored;
  return { id, at, account, operation, reference, available, held, ...(detail === undefined ? {} : { detail }) };
}

function listOf<T>(kv: Deno.Kv, selector: Deno.KvListSelector, expected: number, reverse: boolean) {
  return kv.list<T>(selector, { reverse, batchSize: Math.min(expected, MAX_BATCH_ENTRIES) });
}
