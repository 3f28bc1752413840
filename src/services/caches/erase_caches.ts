import type { FileStore } from "../../platform/files/files.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Commit, Store } from "../../platform/store/store.ts";
import { cacheFileOf } from "./cached_content.ts";
import { type CacheEntry, changeCache, dropCache, endCache, readAllCaches, readCacheEntry } from "./records.ts";
import type { StoreTime } from "../../platform/store/store_time.ts";

/** More lost races for one cache indicate a programming error. */
const MAX_RACES = 8;

/** The parts that {@linkcode eraseCaches} uses. */
export interface EraseCacheParts {
  readonly store: Store;
  /** The folder of caches. */
  readonly files: FileStore;
}

/**
 * Removes the cached contents of an account, a commit for each. Of a content at a vendor, a record without the caller's
 * texts stays until a job has removed it there.
 *
 * @returns Their number.
 * @throws {GatewayError} `conflict` if one changes all the time.
 */
export async function eraseCaches(parts: EraseCacheParts, account: string): Promise<number> {
  let removed = 0;
  for await (const { value } of readAllCaches(parts.store)) {
    if (value.account === account && await eraseCache(parts, value.id)) removed++;
  }
  return removed;
}

/** Returns false if there was nothing left to erase. */
async function eraseCache({ store, files }: EraseCacheParts, id: string): Promise<boolean> {
  for (let race = 0; race < MAX_RACES; race++) {
    const entry = await readCacheEntry(store, id);
    if (entry === null || isErased(entry)) return false;
    await files.remove(cacheFileOf(id));
    if ((await store.commit(null, erasing(entry, store.now()))).ok) return true;
  }
  throw new GatewayError("conflict", "Cannot remove the cached contents: too many concurrent changes");
}

function erasing(entry: CacheEntry, now: StoreTime): Commit {
  const { home, state, model } = entry.value;
  if (home.kind === "emulated") return dropCache({}, entry);
  const erased = { ...entry, value: { ...entry.value, displayName: null, modelName: model } };
  return state === "ended" ? changeCache({}, erased, {}) : endCache({}, erased, now);
}

function isErased({ value: { home, state, displayName, modelName, model } }: CacheEntry): boolean {
  return home.kind === "native" && state === "ended" && displayName === null && modelName === model;
}
