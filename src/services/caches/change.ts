import { addCharge } from "../../money/billing/ledger/charge.ts";
import { costOf } from "../../money/billing/prices/tariff.ts";
import { bareModelName } from "../../platform/names/bare_model_name.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";
import type { LimitedCaller } from "../../money/limits/limited_caller.ts";
import type { Commit } from "../../platform/store/store.ts";
import { gatewayErrorFor, UpstreamFailure } from "../../vendors/upstreams/call/failure.ts";
import type { CacheParts } from "./cache_parts.ts";
import { type CachedContent, cacheNotFound } from "./cached_content.ts";
import { GRACE_MS } from "./expire.ts";
import { limitExpiry } from "./lifetime.ts";
import { readUsableCache } from "./read.ts";
import { addExpiry, changeCache, endCache } from "./records.ts";
import { readCachePatch } from "./request.ts";
import { storedHoursOf } from "./storage.ts";
import { laterBy } from "../../platform/store/store_time.ts";

/** A patch as received from a protocol. */
export interface CachePatch extends LimitedCaller {
  readonly requestId: string;
  /** When the request began, in Unix milliseconds. */
  readonly receivedAt: number;
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
 * commit also determines the vendor's expiry. A longer life is charged where storage at the vendor has a price.
 *
 * @throws {GatewayError} `invalid_request`, `not_found`, `permission_denied`, `insufficient_credits`, or the vendor's
 * failure.
 */
export async function patchCache(parts: CacheParts, patch: CachePatch): Promise<CachedContent> {
  const { store, meter } = parts;
  for (let race = 0; race < MAX_ATTEMPTS; race++) {
    const entry = await readUsableCache(store, patch.keyId, patch.name);
    const now = store.now();
    const asked = readCachePatch(patch.body, patch.updateMask, now);
    const expiresAt = limitExpiry(parts.maxLifeMs, entry.value.createdAt, asked);
    const amount = storageCostOf(parts, patch, entry.value, expiresAt);
    const admission = amount === 0n ? null : await meter.admit(patch, amount);
    try {
      await extendAtHome(parts, entry.value, expiresAt);
      const { id, revision } = entry.value;
      const change = { expiresAt, updatedAt: now, revision: revision + 1 };
      const extended = addExpiry(
        changeCache({}, entry, change),
        id,
        revision + 1,
        laterBy(now, expiresAt - now + GRACE_MS),
      );
      const commit = amount === 0n ? extended : addStorageCharge(extended, { patch, cache: entry.value, amount, now });
      if ((await store.commit(null, commit)).ok) return { ...entry.value, ...change };
    } finally {
      if (admission !== null) {
        // The balance is read again before the reservation ends, so that no other call is admitted in between.
        meter.invalidate(patch.accountId);
        admission.release();
      }
    }
  }
  throw tooManyRaces();
}

/** What a vendor's storage costs from the expiry before to the new one; 0 if it has no price. */
function storageCostOf(parts: CacheParts, patch: CachePatch, cache: CachedContent, expiresAt: number): Money {
  if (cache.home.kind !== "native" || expiresAt <= cache.expiresAt) return 0n;
  const { tariff } = parts.modelOf(bareModelName(cache.modelName), patch);
  return costOf({ cache_storage_hour: storedHoursOf(cache.tokens, expiresAt - cache.expiresAt) }, tariff);
}

/** What is charged for a longer life. */
interface StorageCharge {
  readonly patch: CachePatch;
  readonly cache: CachedContent;
  readonly amount: Money;
  /** Unix milliseconds. */
  readonly now: number;
}

function addStorageCharge(commit: Commit, { patch, cache, amount, now }: StorageCharge): Commit {
  const { requestId, keyId } = patch;
  const provider = providerNameOf(cache.home.provider);
  const rows = [{ requestId, keyId, at: now, kind: "cache", model: cache.model, provider, amount }] as const;
  return addCharge(commit, { account: cache.account, reference: `cache_${cache.id}_${cache.revision + 1}`, rows });
}

async function extendAtHome({ providers }: CacheParts, { home }: CachedContent, expiresAt: number): Promise<void> {
  if (home.kind === "emulated") return;
  const upstream = providers.get(home.provider)?.capabilities.caches;
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
