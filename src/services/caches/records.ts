import { mergeCommits } from "../../money/billing/accounts/records.ts";
import { entriesBelow } from "../../platform/store/entries_below.ts";
import type { Commit, CommitResult, Entry, Key, Store } from "../../platform/store/store.ts";
import { writtenVersion } from "../../platform/store/written_version.ts";
import type { CachedContent } from "./cached_content.ts";
import type { StoreTime } from "../../platform/store/store_time.ts";

/** A cache as read, with the version to check. */
export type CacheEntry = Entry<CachedContent>;

/** The types of cache jobs. */
export type CacheJobKind = "cache_expire" | "cache_delete";

const CACHES: Key = ["cache", "content"];
/** The key of a {@linkcode CachedContent}. */
export const cacheKey = (id: string): Key => [...CACHES, id];
/** The key of the number of hits of a cache. It is removed with the cache's record. */
export const cacheHitsKey = (id: string): Key => ["cache", "hits", id];
const ownCaches = (keyId: string): Key => ["cache", "own", keyId];
const ownCacheKey = (keyId: string, id: string): Key => [...ownCaches(keyId), id];

/** A cache by its id in any state; null if there is none. */
export async function readCacheEntry(store: Store, id: string): Promise<CacheEntry | null> {
  const [entry = null] = await store.get<CachedContent>([cacheKey(id)]);
  return entry;
}

/**
 * A credential's caches in any state, newest first.
 *
 * @param after The id to continue after; null for the first page.
 */
export async function readOwnCaches(
  store: Store,
  keyId: string,
  after: string | null,
  limit: number,
): Promise<{ readonly id: string; readonly cache: CachedContent | null }[]> {
  const place = after === null ? {} : { after: ownCacheKey(keyId, after) };
  const index = await store.scan(ownCaches(keyId), { ...place, limit, reverse: true });
  const ids = index.map(({ key }) => String(key[key.length - 1]));
  if (ids.length === 0) return [];
  const entries = await store.get<CachedContent>(ids.map(cacheKey));
  return ids.map((id, at) => ({ id, cache: entries[at]?.value ?? null }));
}

/** The number and total size of a credential's caches that have not ended. Those of earlier versions have size 0. */
export async function readOwnUse(
  store: Store,
  keyId: string,
  { exceptId, most }: { readonly exceptId: string; readonly most: number },
): Promise<{ readonly count: number; readonly bytes: number }> {
  const index = await store.scan<number | true>(ownCaches(keyId), { limit: most + 1 });
  const others = index.filter(({ key }) => key[key.length - 1] !== exceptId);
  const bytes = others.reduce((sum, { value }) => sum + (value === true ? 0 : value), 0);
  return { count: others.length, bytes };
}

/**
 * Caches of all credentials in any state, newest first.
 *
 * @param page `after` is the id to continue after; null for the first page.
 */
export async function scanCaches(
  store: Store,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<CacheEntry[]> {
  const place = after === null ? {} : { after: cacheKey(after) };
  return await store.scan<CachedContent>(CACHES, { ...place, limit, reverse: true });
}

const PAGE = 100;

/** All caches in any state, read in pages in the order of their ids. */
export async function* readAllCaches(store: Store): AsyncGenerator<CacheEntry> {
  yield* entriesBelow<CachedContent>(store, CACHES, { limit: PAGE });
}

/** Adds a new cache to the commit. `bytes` is its size for {@linkcode readOwnUse}. */
export function addCache(commit: Commit, cache: CachedContent, bytes: number): Commit {
  const key = cacheKey(cache.id);
  const counted = setBytes(commit, cache, bytes);
  return mergeCommits(counted, { check: [{ key, version: null }], set: [{ key, value: cache }] });
}

/** The entry after a commit of {@linkcode addCache}; null if the commit was refused. */
export function addedCache(cache: CachedContent, commit: Commit, result: CommitResult): CacheEntry | null {
  const key = cacheKey(cache.id);
  const version = writtenVersion(commit, result, key);
  return version === null ? null : { key, value: cache, version };
}

/** Sets a cache's size for {@linkcode readOwnUse} in the commit. */
export function setBytes(commit: Commit, { keyId, id }: Pick<CachedContent, "keyId" | "id">, bytes: number): Commit {
  return mergeCommits(commit, { set: [{ key: ownCacheKey(keyId, id), value: bytes }] });
}

/** Changes a cache in the commit, which fails with `conflict` if the cache has changed since it was read. */
export function changeCache(commit: Commit, entry: CacheEntry, change: Partial<CachedContent>): Commit {
  const { key, version } = entry;
  return mergeCommits(commit, { check: [{ key, version }], set: [{ key, value: { ...entry.value, ...change } }] });
}

/** Deletes a cache's record and its hits in the commit, with the same check. */
export function dropCache(commit: Commit, { key, version, value: { keyId, id } }: CacheEntry): Commit {
  return mergeCommits(commit, {
    check: [{ key, version }],
    delete: [key, ownCacheKey(keyId, id), cacheHitsKey(id)],
  });
}

/** Adds the job that ends a cache, unless its expiry changes; the job's name contains the revision of the expiry. */
export function addExpiry(commit: Commit, id: string, revision: number, dueAt: StoreTime): Commit {
  return mergeCommits(commit, {
    addJobs: [{ kind: "cache_expire" satisfies CacheJobKind, ref: `${id}.${revision}`, dueAt }],
  });
}

/** The cache and the revision of an expiry job. */
export function readExpiryRef(ref: string): { readonly id: string; readonly revision: number } {
  const [id = ref, revision] = ref.split(".");
  return { id, revision: Number(revision) };
}

/** Ends a cache in the commit, and adds the job that removes its content. It no longer counts towards the limits. */
export function endCache(commit: Commit, entry: CacheEntry, now: StoreTime): Commit {
  const { keyId, id } = entry.value;
  const ended = changeCache(commit, entry, { state: "ended", updatedAt: now });
  return mergeCommits(ended, {
    delete: [ownCacheKey(keyId, id)],
    addJobs: [{ kind: "cache_delete" satisfies CacheJobKind, ref: id, dueAt: now }],
  });
}
