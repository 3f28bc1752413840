import { newSortableId } from "../../platform/lib/basics/ids.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";

/**
 * Where a cache's content is stored. `native`: at a vendor with caches, under the vendor's name, which is null until
 * the vendor has returned it. `emulated`: in the gateway's file store, with the size of its head; 0 until it is
 * written. A cache belongs to one provider for its whole life. Source: docs/api/caches.md#references.
 */
export type CacheHome =
  | { readonly kind: "native"; readonly provider: string; readonly upstreamName: string | null }
  | { readonly kind: "emulated"; readonly provider: string; readonly headBytes: number };

/**
 * A cached content as stored. Its states:
 *
 *     creating ─┬─ the content is stored, and charged in the same commit ─→ ready
 *               ├─ the provider definitely rejected it ───────────────────→ (removed)
 *               └─ it failed otherwise, or the process died ──────────────→ ended
 *     ready ────┬─ DELETE ────────────────────────────────────────────────→ ended
 *               └─ it expires ────────────────────────────────────────────→ ended
 *     ended ────── the file and the vendor's copy are removed ────────────→ (removed)
 *
 * It can be read, referenced and changed only while it is `ready` and has not expired. Two types of jobs change the
 * state even if the process restarts. `cache_expire` is added in the commit that sets the expiry (for `creating`: the
 * time limit). `cache_delete` is added in the commit that ends the cache.
 */
export interface CachedContent {
  readonly id: string;
  readonly account: string;
  /** The credential that created it. No other credential may use it. */
  readonly keyId: string;
  /** The catalog's id. */
  readonly model: string;
  /** The model's name as the caller wrote it. */
  readonly modelName: string;
  readonly displayName: string | null;
  readonly state: "creating" | "ready" | "ended";
  readonly home: CacheHome;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds. */
  readonly updatedAt: number;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** The number of tokens; 0 until it is `ready`. */
  readonly tokens: number;
  /** The provider that counted them; null for the gateway's tokenizer. */
  readonly countedBy: string | null;
  /** Increases with each new expiry, so that a job for an older one can be recognised. */
  readonly revision: number;
}

const COLLECTION = "cachedContents/";

/** Creates an id that sorts by creation time. */
export function newCacheId(now: number): string {
  return newSortableId(now);
}

/** Whether a text is a valid cache id. */
export function isCacheId(text: string): boolean {
  return /^[0-9a-f]{28}$/.test(text);
}

/** The public name of a cache: `cachedContents/<id>`. */
export function cacheNameOf(id: string): string {
  return COLLECTION + id;
}

/** The id in a cache's name; null if the name is invalid. */
export function cacheIdIn(name: string): string | null {
  const id = name.startsWith(COLLECTION) ? name.slice(COLLECTION.length) : "";
  return isCacheId(id) ? id : null;
}

/** The file of an emulated cache. */
export function cacheFileOf(id: string): string {
  return `${id}.cache`;
}

/** Unknown, expired and deleted caches are reported alike. */
export function cacheNotFound(field?: string): GatewayError {
  return new GatewayError("not_found", "Cannot find the cached content: it does not exist or has expired", { field });
}
