import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { Store } from "../../platform/store/store.ts";
import { type CachedContent, cacheFileOf, cacheIdIn, cacheNotFound, isCacheId } from "./cached_content.ts";
import { type CacheEntry, readCacheEntry, readOwnCaches } from "./records.ts";

/**
 * A credential's usable cache. Source: docs/api/caches.md#access.
 *
 * @param name `cachedContents/<id>`.
 * @param field The body field with the name, if any.
 * @throws {GatewayError} `not_found` if it is unknown, expired or deleted; `permission_denied` if another credential
 * created it.
 */
export async function readUsableCache(store: Store, keyId: string, name: string, field?: string): Promise<CacheEntry> {
  const id = cacheIdIn(name);
  const entry = id === null ? null : await readCacheEntry(store, id);
  if (entry === null || !isUsable(entry.value, store.now())) throw cacheNotFound(field);
  if (entry.value.keyId === keyId) return entry;
  throw new GatewayError("permission_denied", "Cannot use the cached content: another credential created it", {
    field,
  });
}

/** Whether a cache can be read and referenced. */
export function isUsable({ state, expiresAt }: CachedContent, now: number): boolean {
  return state === "ready" && expiresAt > now;
}

/** Whether a file in the caches' folder is in use: the record of its cache exists. */
export async function isCacheFileInUse(store: Store, name: string): Promise<boolean> {
  const [id = name] = name.split(".");
  return isCacheId(id) && name === cacheFileOf(id) && await readCacheEntry(store, id) !== null;
}

/** One page of a credential's caches. */
export interface CachePage {
  readonly caches: readonly CachedContent[];
  /** The cursor of the next page; null on the last page. */
  readonly next: string | null;
}

/**
 * A credential's usable caches, newest first. A page may be shorter than requested even if there is a next one.
 *
 * @param after The `next` of an earlier page; null for the first page.
 * @throws {GatewayError} `invalid_request` for an invalid `after`.
 */
export async function listCaches(
  store: Store,
  keyId: string,
  after: string | null,
  most: number,
): Promise<CachePage> {
  if (after !== null && !isCacheId(after)) throw invalidField("pageToken", "expected the nextPageToken of a page");
  const found = await readOwnCaches(store, keyId, after, most + 1);
  const page = found.slice(0, most);
  const now = store.now();
  return {
    caches: page.flatMap(({ cache }) => cache && isUsable(cache, now) ? [cache] : []),
    next: found.length > most ? page.at(-1)?.id ?? null : null,
  };
}
