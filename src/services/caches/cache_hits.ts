import type { Clock } from "../../platform/lib/basics/clock.ts";
import { holdWork } from "../../platform/lib/basics/held.ts";
import { errorName, type Log } from "../../platform/lib/basics/log.ts";
import type { Store } from "../../platform/store/store.ts";
import { cacheHitsKey, cacheKey } from "./records.ts";

/** How often a cached content was used. */
export interface CacheUse {
  /** Charged requests that named it. */
  readonly hits: number;
  /** Unix milliseconds of the end of the last one. */
  readonly lastHitAt: number;
}

/** The dependencies of {@linkcode CacheHits}. */
export interface CacheHitsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

/** The longest time that hits wait for others to share a commit. */
const FLUSH_MS = 10_000;
/** Caches whose hits wait; hits of further ones are not counted until the next commit. */
const MAX_WAITING = 10_000;
/** Each has two values that the commit checks. */
const CACHES_PER_COMMIT = 25;
/** More lost races for the same caches are left to the next flush. */
const MAX_RACES = 3;

/**
 * Counts the hits of cached contents, apart from their records: a hit must not conflict with a change of the cache.
 * They are added up in memory and written every ten seconds, so a killed process loses those of the last ones.
 *
 *     hit → waiting → the next flush: one commit for up to 25 caches
 */
export class CacheHits {
  #waiting = new Map<string, CacheUse>();
  #isTimed = false;
  #stopTimer = () => {};
  #flushing: Promise<void> = Promise.resolve();

  constructor(private readonly parts: CacheHitsParts) {}

  /**
   * Counts a hit.
   *
   * @param id The cache's id.
   */
  count(id: string): void {
    this.#add(id, { hits: 1, lastHitAt: this.parts.clock.now() });
    if (this.#isTimed) return;
    this.#isTimed = true;
    this.#stopTimer = this.parts.clock.after(FLUSH_MS, () => holdWork(this.flush()));
  }

  /** Writes the hits that were counted before the call. Never rejects: what cannot be written waits for the next. */
  flush(): Promise<void> {
    return this.#flushing = this.#flushing.then(() => this.#flush());
  }

  #add(id: string, { hits, lastHitAt }: CacheUse): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined && this.#waiting.size >= MAX_WAITING) return;
    this.#waiting.set(id, {
      hits: (waiting?.hits ?? 0) + hits,
      lastHitAt: Math.max(waiting?.lastHitAt ?? 0, lastHitAt),
    });
  }

  async #flush(): Promise<void> {
    this.#stopTimer();
    this.#isTimed = false;
    const uses = [...this.#waiting];
    this.#waiting = new Map();
    for (let at = 0; at < uses.length; at += CACHES_PER_COMMIT) {
      const some = uses.slice(at, at + CACHES_PER_COMMIT);
      try {
        if (await this.#write(some)) continue;
      } catch (error) {
        this.parts.log.warn("cache_hits_unwritten", { reason: errorName(error) });
      }
      for (const [id, use] of some) this.#add(id, use);
    }
  }

  /** Returns false if other gateways changed the values all the time. Caches that are gone are left out. */
  async #write(uses: readonly (readonly [string, CacheUse])[]): Promise<boolean> {
    const { store } = this.parts;
    for (let race = 0; race < MAX_RACES; race++) {
      const caches = await store.get(uses.map(([id]) => cacheKey(id)));
      const stored = await store.get<CacheUse>(uses.map(([id]) => cacheHitsKey(id)));
      const changes = uses.flatMap(([id, use], place) => {
        const [cache, found = null] = [caches[place], stored[place]];
        if (!cache) return [];
        const value: CacheUse = {
          hits: (found?.value.hits ?? 0) + use.hits,
          lastHitAt: Math.max(found?.value.lastHitAt ?? 0, use.lastHitAt),
        };
        const key = cacheHitsKey(id);
        return [{
          check: [{ key: cache.key, version: cache.version }, { key, version: found?.version ?? null }],
          set: { key, value },
        }];
      });
      if (changes.length === 0) return true;
      const { ok } = await store.commit(null, {
        check: changes.flatMap(({ check }) => check),
        set: changes.map(({ set }) => set),
      });
      if (ok) return true;
    }
    return false;
  }
}

const NO_USE: CacheUse = { hits: 0, lastHitAt: 0 };

/** How often caches were used, in the order of their ids. */
export async function readCacheUses(store: Store, ids: readonly string[]): Promise<CacheUse[]> {
  const found = ids.length === 0 ? [] : await store.get<CacheUse>(ids.map(cacheHitsKey));
  return ids.map((_, place) => found[place]?.value ?? NO_USE);
}
