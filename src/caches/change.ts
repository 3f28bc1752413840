import { GatewayError } from "../lib/gateway_error.ts";
import type { JsonObject } from "../lib/json_object.ts";
import { gatewayErrorFor, UpstreamFailure } from "../upstreams/failure.ts";
import type { CacheParts } from "./cache_parts.ts";
import { type CachedContent, cacheNotFound } from "./cached_content.ts";
import { GRACE_MS } from "./expire.ts";
import { limitExpiry } from "./lifetime.ts";
import { readUsableCache } from "./read.ts";
import { addExpiry, changeCache, endCache } from "./records.ts";
import { readCachePatch } from "./request.ts";
import { laterBy } from "../store/store_time.ts";

/** A patch as received from a protocol. */
export interface CachePatch {
  readonly keyId: string;
  /** `cachedContents/<id>`. */
  readonly name: string;
  /** The JSON body. */
  readonly body: JsonObject;
  /** Null if the query has no update mask. */
  readonly updateMask: string | null;
}

/** More lost races for one cache indicate a programming error. */
const MAX_ATTEMPTS = 8;

/**
 * Changes a cache's expiry, at the vendor first if the vendor stores the content. Of two concurrent patches, the later
 * commit also determines the vendor's expiry.
 *
 * @throws {GatewayError} `invalid_request`, `not_found`, `permission_denied`, or the vendor's failure.
 */
export async function patchCache(parts: CacheParts, patch: CachePatch): Promise<CachedContent> {
  const { store } = parts;
  for (let race = 0; race < MAX_ATTEMPTS; race++) {
    const entry = await readUsableCache(store, patch.keyId, patch.name);
    const now = store.now();
    const asked = readCachePatch(patch.body, patch.updateMask, now);
    const expiresAt = limitExpiry(parts.maxLifeMs, entry.value.createdAt, asked);
    await extendAtHome(parts, entry.value, expiresAt);
    const { id, revision } = entry.value;
    const change = { expiresAt, updatedAt: now, revision: revision + 1 };
    const commit = addExpiry(
      changeCache({}, entry, change),
      id,
      revision + 1,
      laterBy(now, expiresAt - now + GRACE_MS),
    );
    if ((await store.commit(null, commit)).ok) return { ...entry.value, ...change };
  }
  throw tooManyRaces();
}

async function extendAtHome({ providers }: CacheParts, { home }: CachedContent, expiresAt: number): Promise<void> {
  if (home.kind === "emulated") return;
  const upstream = providers.get(home.provider)?.caches;
  if (!upstream || home.upstreamName === null) throw cacheNotFound();
  try {
    if (!await upstream.extend(home.upstreamName, expiresAt)) throw cacheNotFound();
  } catch (error) {
    throw error instanceof UpstreamFailure ? gatewayErrorFor(error) : error;
  }
}

/**
 * Deletes a cache. It cannot be used afterwards, and a job removes its content.
 *
 * @param name `cachedContents/<id>`.
 * @throws {GatewayError} `not_found`, `permission_denied`.
 */
export async function deleteCache({ store, log }: CacheParts, keyId: string, name: string): Promise<void> {
  for (let race = 0; race < MAX_ATTEMPTS; race++) {
    const entry = await readUsableCache(store, keyId, name);
    if (!(await store.commit(null, endCache({}, entry, store.now()))).ok) continue;
    return log.info("cache_deleted", { ref: entry.value.id, keyId, accountId: entry.value.account });
  }
  throw tooManyRaces();
}

function tooManyRaces(): GatewayError {
  return new GatewayError("internal_error", "Cannot change the cached content: too many concurrent changes");
}
