import { GatewayError } from "../lib/gateway_error.ts";
import type { JsonObject } from "../lib/json_object.ts";
import { gatewayErrorFor, UpstreamFailure } from "../upstreams/failure.ts";
import type { CacheParts } from "./cache_parts.ts";
import { type CachedContent, cacheNotFound } from "./cached_content.ts";
import { GRACE_MS } from "./expire.ts";
import { endWithin } from "./lifetime.ts";
import { readUsableCache } from "./read.ts";
import { addExpiry, changeCache, endCache } from "./records.ts";
import { readCachePatch } from "./request.ts";

/** A patch as a protocol hands it over. */
export interface CachePatch {
  readonly keyId: string;
  /** `cachedContents/<id>`. */
  readonly name: string;
  /** The JSON body. */
  readonly body: JsonObject;
  /** Null when the query names no changed fields. */
  readonly updateMask: string | null;
}

/** Whoever loses more races than that for one cache has met a mistake. */
const MAX_ATTEMPTS = 8;

/**
 * Moves a cache's end, with the vendor first where that keeps the content: of two patches at once the later commit's
 * end is also the vendor's.
 *
 * @throws {GatewayError} `invalid_request`, `not_found`, `permission_denied`, or the vendor's failure.
 */
export async function patchCache(parts: CacheParts, patch: CachePatch): Promise<CachedContent> {
  const { store } = parts;
  for (let race = 0; race < MAX_ATTEMPTS; race++) {
    const entry = await readUsableCache(store, patch.keyId, patch.name);
    const now = store.now();
    const asked = readCachePatch(patch.body, patch.updateMask, now);
    const expiresAt = endWithin(parts.maxLifeMs, entry.value.createdAt, asked);
    await extendAtHome(parts, entry.value, expiresAt);
    const { id, revision } = entry.value;
    const change = { expiresAt, updatedAt: now, revision: revision + 1 };
    const commit = addExpiry(changeCache({}, entry, change), id, revision + 1, expiresAt + GRACE_MS);
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
 * Deletes a cache: nobody can use it from now on, and a job removes what is kept of it.
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
  return new GatewayError("internal_error", "Cannot change the cached content: it keeps changing");
}
