import { cloneValue } from "../clone_value.ts";
import { isExpired, type StoredLedgerTuple, type StoredValue } from "./commit_transaction.ts";
import { encodeKey, encodeStorableKey, isBelow, keyOfKv, kvKeyOf, ledgerEntryKey, valueKey } from "./keys.ts";
import { KV_LIMITS } from "../commit_size.ts";
import type { VersionedValue } from "./transaction.ts";
import type { ValueCache } from "./value_cache.ts";
import type { Entry, Key, StoredLedgerEntry } from "../store.ts";

/** Where to begin and how far to go. */
export interface Page<Place> {
  readonly after?: Place;
  readonly limit: number;
  readonly reverse?: boolean;
}

const { maxKeyBytes, maxKeysPerRead } = KV_LIMITS;
const LARGEST_READ = 500;

/**
 * The callers' values under these keys, null where there is none or none any more. A key too large for one has none.
 * When all of them are known nothing is read; else all are, so that they are of one instant.
 */
export async function readValues<T>(
  kv: Deno.Kv,
  known: ValueCache,
  keys: readonly Key[],
  now: number,
): Promise<(Entry<T> | null)[]> {
  const ids = keys.map(valueIdOf);
  const atHand = ids.map((id) => id === null ? NOTHING : known.get(id));
  const slots = atHand.every((slot) => slot !== undefined) ? atHand : await readSlots(kv, known, keys, ids);
  // What is known is shared: whoever asks gets a copy.
  return slots.map((slot, i) => entryOf<T>(keys[i], slot, now, ids[i] !== null && known.get(ids[i]) === slot));
}

const NOTHING: VersionedValue = { value: undefined, version: null };
const VALUE_AREA = encodeKey(valueKey([]));

function valueIdOf(key: Key): string | null {
  const encoded = encodeStorableKey(key, maxKeyBytes);
  return encoded === null ? null : VALUE_AREA + encoded;
}

async function readSlots(
  kv: Deno.Kv,
  known: ValueCache,
  keys: readonly Key[],
  ids: readonly (string | null)[],
): Promise<VersionedValue[]> {
  const storable = ids.flatMap((id, i) => id === null ? [] : [{ id, key: valueKey(keys[i]) }]);
  const parts: Promise<VersionedValue[]>[] = [];
  for (let i = 0; i < storable.length; i += maxKeysPerRead) {
    parts.push(readTen(kv, known, storable.slice(i, i + maxKeysPerRead)));
  }
  const found = (await Promise.all(parts)).flat();
  return ids.map((id) => id === null ? NOTHING : found.shift() ?? NOTHING);
}

async function readTen(
  kv: Deno.Kv,
  known: ValueCache,
  ten: readonly { readonly id: string; readonly key: Key }[],
): Promise<VersionedValue[]> {
  const reading = known.beginRead(ten.map(({ id }) => id));
  let slots: VersionedValue[] = [];
  try {
    const entries = await kv.getMany<StoredValue[]>(ten.map(({ key }) => kvKeyOf(key)));
    slots = entries.map(({ value, versionstamp }) => {
      return versionstamp === null ? NOTHING : { value, version: versionstamp };
    });
    return slots;
  } finally {
    known.endRead(reading, ten.map(({ key }) => key), slots);
  }
}

function entryOf<T>(key: Key, { value, version }: VersionedValue, now: number, isShared: boolean): Entry<T> | null {
  const stored = value as StoredValue;
  if (version === null || isExpired(stored, now)) return null;
  return { key, value: (isShared ? cloneValue(stored[0]) : stored[0]) as T, version };
}

/** Callers' entries below a prefix, in the order of keys or against it. */
export async function scanValues<T>(kv: Deno.Kv, prefix: Key, page: Page<Key>, now: number): Promise<Entry<T>[]> {
  const { limit, reverse = false } = page;
  const selector = selectorOf(prefix, page);
  if (!selector) return [];
  const after = page.after && encodeKey(page.after);
  const entries: Entry<T>[] = [];
  if (limit <= 0) return entries;
  for await (const { key, value, versionstamp } of listOf<StoredValue>(kv, selector, limit + 1, reverse)) {
    const own = keyOfKv(key).slice(1);
    if (isExpired(value, now) || (after !== undefined && encodeKey(own) === after)) continue;
    entries.push({ key: own, value: value[0] as T, version: versionstamp });
    if (entries.length === limit) break;
  }
  return entries;
}

/** What to list; null when nothing can be there. Deno KV refuses a start or an end outside the prefix. */
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

/** An account's ledger lines, oldest first or newest first. */
export async function readLedger(kv: Deno.Kv, account: string, page: Page<string>): Promise<StoredLedgerEntry[]> {
  const { after, limit, reverse = false } = page;
  const lines: StoredLedgerEntry[] = [];
  if (limit <= 0 || encodeStorableKey([account, after ?? ""], maxKeyBytes) === null) return lines;
  const prefix = kvKeyOf(ledgerEntryKey(account, "").slice(0, -1));
  const place = after === undefined ? {} : { [reverse ? "end" : "start"]: kvKeyOf(ledgerEntryKey(account, after)) };
  for await (const { key, value } of listOf<StoredLedgerTuple>(kv, { prefix, ...place }, limit + 1, reverse)) {
    const id = String(key.at(-1));
    if (id === after) continue;
    lines.push(lineOf(account, id, value));
    if (lines.length === limit) break;
  }
  return lines;
}

function lineOf(account: string, id: string, stored: StoredLedgerTuple): StoredLedgerEntry {
  const [operation, reference, available, held, at, detail] = stored;
  return { id, at, account, operation, reference, available, held, ...(detail === undefined ? {} : { detail }) };
}

function listOf<T>(kv: Deno.Kv, selector: Deno.KvListSelector, expected: number, reverse: boolean) {
  return kv.list<T>(selector, { reverse, batchSize: Math.min(expected, LARGEST_READ) });
}
