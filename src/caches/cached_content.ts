import { newSortableId } from "../lib/ids.ts";
import { GatewayError } from "../lib/gateway_error.ts";

/**
 * Where a cache's content is. `native`: with a vendor that has caches of its own, under the vendor's name, which is
 * null until the vendor has told it. `emulated`: in the gateway's file store, whose head is of so many bytes; 0 until
 * it is written. A cache belongs to one provider for all of its life. Source: docs/api/caches.md#references.
 */
export type CacheHome =
  | { readonly kind: "native"; readonly provider: string; readonly upstreamName: string | null }
  | { readonly kind: "emulated"; readonly provider: string; readonly headBytes: number };

/**
 * A cached content as it is stored. What it can come to:
 *
 *     creating ─┬─ the content is kept, and charged in the same commit ─→ ready
 *               ├─ the provider refused it for certain ─────────────────→ (gone)
 *               └─ it failed otherwise, or the process died ────────────→ ended
 *     ready ────┬─ DELETE ──────────────────────────────────────────────→ ended
 *               └─ its end has come ────────────────────────────────────→ ended
 *     ended ────── the file and the vendor's copy are removed ──────────→ (gone)
 *
 * It can be read, referenced and changed only while it is `ready` and its end has not come. Two kinds of jobs move it
 * on, whatever becomes of the process: `cache_expire`, owed from the commit that set the end (or, for `creating`, the
 * patience) that it waits for, and `cache_delete`, owed from the commit that ended it.
 */
export interface CachedContent {
  readonly id: string;
  readonly account: string;
  /** The credential that created it, and that alone may use it. */
  readonly keyId: string;
  /** The catalog's id. */
  readonly model: string;
  /** The model as the caller spelt it. */
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
  /** How many tokens it holds; 0 until it is `ready`. */
  readonly tokens: number;
  /** The provider that counted them; null for the gateway's tokenizer. */
  readonly countedBy: string | null;
  /** Rises with each new end, so that a job that waits for an older one knows. */
  readonly revision: number;
}

const COLLECTION = "cachedContents/";

/** A new id: sorts by time of making. */
export function newCacheId(now: number): string {
  return newSortableId(now);
}

/** Whether a text can be the id of a cache. */
export function isCacheId(text: string): boolean {
  return /^[0-9a-f]{28}$/.test(text);
}

/** The name by which callers know a cache: `cachedContents/<id>`. */
export function cacheNameOf(id: string): string {
  return COLLECTION + id;
}

/** The id in a cache's name; null when it is no name of one. */
export function cacheIdIn(name: string): string | null {
  const id = name.startsWith(COLLECTION) ? name.slice(COLLECTION.length) : "";
  return isCacheId(id) ? id : null;
}

/** The file that holds an emulated cache. */
export function cacheFileOf(id: string): string {
  return `${id}.cache`;
}

/** Unknown, expired and deleted are one to a caller. */
export function cacheNotFound(field?: string): GatewayError {
  return new GatewayError("not_found", "Cannot find the cached content: it does not exist or has expired", { field });
}
