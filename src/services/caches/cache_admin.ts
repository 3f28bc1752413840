import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { elementAt } from "../../platform/lib/collections/element_at.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import type { Store } from "../../platform/store/store.ts";
import { type CachedContent, cacheNotFound, isCacheId } from "./cached_content.ts";
import { type CacheUse, readCacheUses } from "./cache_hits.ts";
import { isUsable } from "./read.ts";
import { endCache, readCacheEntry, scanCaches } from "./records.ts";

/** What a list of caches selects; null fields match all. */
export interface CacheFilter {
  readonly account: string | null;
}

/** A cached content with its use. */
export interface UsedCache {
  readonly cache: CachedContent;
  readonly use: CacheUse;
}

/** The cached contents of all accounts, for the operator. */
export interface CacheAdmin {
  /**
   * Lists usable caches, newest first. A page looks at up to {@linkcode MAX_CACHES_SCANNED} records, so it may be
   * short, or empty, and still have a `next`.
   *
   * @param page `after` is the `next` of an earlier page.
   */
  list(
    filter: CacheFilter,
    page: { readonly limit: number; readonly after?: string },
  ): Promise<{ readonly caches: readonly UsedCache[]; readonly next: string | null }>;
  /**
   * Deletes a cache, as its owner could. A job removes its content.
   *
   * @throws {GatewayError} `not_found`; `conflict` if it changes all the time.
   */
  remove(id: string): Promise<UsedCache>;
}

/** The maximum number of records that a page reads. */
const MAX_CACHES_SCANNED = 1_000;

const SCANNED_AT_ONCE = 100;
/** More lost races for one cache indicate a programming error. */
const MAX_RACES = 8;

/**
 * Opens the administration of the cached contents of a store.
 *
 * @param writeHits Writes the hits that this process has counted and not written yet.
 */
export function openCacheAdmin(store: Store, log: Log, writeHits: () => Promise<void>): CacheAdmin {
  const withUses = async (caches: readonly CachedContent[]): Promise<UsedCache[]> => {
    const uses = await readCacheUses(store, caches.map(({ id }) => id));
    return caches.map((cache, place) => ({ cache, use: elementAt(uses, place) }));
  };
  return {
    async list({ account }, { limit, after }) {
      await writeHits();
      const caches: CachedContent[] = [];
      const now = store.now();
      let last = after ?? null;
      for (let scanned = 0; scanned < MAX_CACHES_SCANNED; scanned += SCANNED_AT_ONCE) {
        const entries = await scanCaches(store, { after: last, limit: SCANNED_AT_ONCE });
        for (const { value: cache } of entries) {
          if (caches.length === limit) return { caches: await withUses(caches), next: last };
          last = cache.id;
          if (isUsable(cache, now) && (account === null || cache.account === account)) caches.push(cache);
        }
        if (entries.length < SCANNED_AT_ONCE) return { caches: await withUses(caches), next: null };
      }
      return { caches: await withUses(caches), next: last };
    },
    async remove(id) {
      for (let race = 0; race < MAX_RACES; race++) {
        const entry = isCacheId(id) ? await readCacheEntry(store, id) : null;
        if (entry === null || !isUsable(entry.value, store.now())) throw cacheNotFound();
        await writeHits();
        const used = elementAt(await withUses([entry.value]), 0);
        if (!(await store.commit(null, endCache({}, entry, store.now()))).ok) continue;
        const { keyId, account } = entry.value;
        log.info("cache_deleted", { ref: id, keyId, accountId: account });
        return used;
      }
      throw new GatewayError("conflict", "Cannot remove the cached content: too many concurrent changes");
    },
  };
}
