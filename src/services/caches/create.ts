import { addCharge } from "../../money/billing/ledger/charge.ts";
import { fixedReservation } from "../../money/billing/meter/meter.ts";
import { costOf, type Tariff } from "../../money/billing/prices/tariff.ts";
import { routeOf, runPaidCall } from "../calls/paid_call.ts";
import { promptBoundOf } from "../calls/prompt_bound.ts";
import type { Settlement } from "../calls/settlement.ts";
import type { Model, Serving } from "../../vendors/catalog/model.ts";
import { pricesIn } from "../../vendors/catalog/prices/price_list.ts";
import { NO_USAGE } from "../../conversation/neutral/usage.ts";
import { content } from "../../conversation/codecs/content/mod.ts";
import type { RequestRecord } from "../../platform/http/request/request_record.ts";
import { bareModelName } from "../../platform/names/bare_model_name.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import { permittedCandidates } from "../ownership/permitted_candidates.ts";
import type { LimitedCaller } from "../../money/limits/limited_caller.ts";
import type { HeldMemory } from "../../platform/lib/process/memory_budget.ts";
import type { Candidate } from "../../vendors/routing/candidates.ts";
import type { Commit, Store } from "../../platform/store/store.ts";
import { CACHE_FALLBACK } from "../../vendors/routing/fallback_rule.ts";
import { UpstreamFailure } from "../../vendors/upstreams/call/failure.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";
import { idOf, type Provider } from "../../vendors/upstreams/contract/provider.ts";
import { withPlausibleTokens } from "./plausible_tokens.ts";
import type { CacheParts } from "./cache_parts.ts";
import { checkCacheLimits } from "./cache_limits.ts";
import { type CachedContent, cacheFileOf, type CacheHome, newCacheId } from "./cached_content.ts";
import { storeEmulated } from "./emulated.ts";
import { GRACE_MS } from "./expire.ts";
import { limitExpiry } from "./lifetime.ts";
import type { CacheCreation, StoredContent } from "./cache_creation.ts";
import { type CachePlace, isCachedImplicitly, isStoredAtVendor } from "./reference.ts";
import { storeNative } from "./native.ts";
import { cacheQuantitiesOf } from "./storage.ts";
import {
  addCache,
  addedCache,
  addExpiry,
  type CacheEntry,
  changeCache,
  dropCache,
  endCache,
  setBytes,
} from "./records.ts";
import { type CacheRequest, readCacheRequest } from "./request.ts";
import { laterBy } from "../../platform/store/store_time.ts";

/** A create request and its caller. */
export interface CacheCall {
  readonly requestId: string;
  readonly keyId: string;
  readonly accountId: string;
  /** The limits of the key and its account. */
  readonly limits: LimitedCaller["limits"];
  /** When the request began, in Unix milliseconds. */
  readonly receivedAt: number;
  /** The JSON body. */
  readonly body: JsonObject;
  /** The body as received. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly headerPin: string | null;
  /** Returns the signal that fires when the caller disconnects. */
  readonly callerSignal: () => AbortSignal;
  /** The memory lease for data read for the cache. */
  readonly memory: HeldMemory;
  /** Collects what happens to the request. */
  readonly record: RequestRecord;
}

/** A created cache. */
export interface CreatedCache {
  readonly cache: CachedContent;
  /** The fields, in the caller's spelling, that the model does not receive. */
  readonly droppedFields: readonly string[];
  /** Whether requests with it are billed as input, since the model has only the vendor's implicit cache. */
  readonly isImplicit: boolean;
}

/** The time limit of a create, longer than the limit of any step. A cache that is not ready by then has failed. */
const PATIENCE_MS = 600_000;

const { grammar } = content.caller;

/**
 * Creates a cache at one of the model's providers: natively if the provider has caches, else in the gateway's own
 * files. The record is committed before any content is stored, so that an interrupted create is found and removed. The
 * charge is in the commit that makes the cache usable. Source: docs/api/caches.md#billing.
 *
 * @throws {GatewayError}
 */
export async function createCache(parts: CacheParts, call: CacheCall): Promise<CreatedCache> {
  const now = parts.store.now();
  const { request, model, candidates, maxTokens, maxCost } = await routeCache(parts, call, now);
  const { requestId, accountId, keyId, record } = call;
  return await runPaidCall({
    facts: { kind: "cache", requestId, accountId, keyId, receivedAt: now, record, model },
    caller: call,
    author: content.caller.author,
    candidates,
    rule: CACHE_FALLBACK,
    promptTokens: maxTokens,
    callerSignal: call.callerSignal,
    reserve: fixedReservation(maxCost, maxTokens),
    begin: (settlement) => (serving) => createAt(serving, { parts, call, request, model, settlement, now }),
  }, parts);
}

/** What is created, who may store it, and what it costs at most. */
export interface CacheRoute {
  readonly request: CacheRequest;
  readonly model: Model;
  /** At least one. */
  readonly candidates: readonly Candidate[];
  readonly maxTokens: number;
  readonly maxCost: Money;
}

/**
 * Reads a create request and routes it.
 *
 * @param now Unix milliseconds.
 * @throws {GatewayError}
 */
export async function routeCache(parts: CacheParts, call: CacheCall, now: number): Promise<CacheRoute> {
  const request = readCacheRequest(call.body, now);
  const model = parts.modelOf(bareModelName(request.modelName), call);
  const { accountId, headerPin, record } = call;
  record.model = request.modelName;
  const { candidates } = routeOf(model, { accountId, headerPin, bodyPin: null, record }, parts);
  const passesTo = (provider: Provider, serving: Pick<Candidate, "model">) =>
    isStoredAtVendor({ provider, model, serving });
  const asked = { accountId, grammar, body: request.content, model, passesTo } as const;
  const maxTokens = maxTokensOf(call, model);
  const storedMs = limitExpiry(parts.maxLifeMs, now, request.expiresAt) - now;
  const permitted = await permittedCandidates(asked, candidates, parts);
  const isFree = permitted.every((serving) =>
    isCachedImplicitly({ provider: parts.providers.get(serving.provider)!, model, serving })
  );
  return {
    request,
    model,
    candidates: permitted,
    maxTokens,
    maxCost: isFree ? 0n : costOf(cacheQuantitiesOf(maxTokens, storedMs), tariffFor(model, maxTokens)),
  };
}

/** Content with files is counted as the model's whole context, since the size of the files is unknown. */
function maxTokensOf({ body, bytes }: CacheCall, model: Model): number {
  return promptBoundOf({ body, grammar, bytes, model, isCacheKnown: false, takesAnyFile: true }).tokens;
}

/** The prices of a content of so many tokens, with those of the moment at which the request began. */
function tariffFor({ prices, pricedAt: at }: Model, promptTokens: number): Tariff {
  return pricesIn(prices, { at, promptTokens, serviceTier: null, region: null }).tariff;
}

interface Creation {
  readonly parts: CacheParts;
  readonly call: CacheCall;
  readonly request: CacheRequest;
  readonly model: Model;
  readonly settlement: Settlement;
  /** Unix milliseconds at which the request was read; the lifetime starts here. */
  readonly now: number;
}

async function createAt(serving: Serving, creation: Creation): Promise<CreatedCache> {
  const { parts, request, model, call } = creation;
  const provider = parts.providers.get(serving.provider)!;
  const place = { provider, model, serving };
  const entry = await begin(place, creation);
  const { id } = entry.value;
  const { content } = request;
  const { expiresAt } = entry.value;
  const { callerSignal, memory } = call;
  const making: CacheCreation = { id, provider, serving, model, content, expiresAt, callerSignal, memory };
  let kept: StoredContent;
  const { caches } = provider.capabilities;
  try {
    await checkCacheLimits(parts, entry.value, call.bytes.length);
    kept = caches && isStoredAtVendor(place) ? await storeNative(caches, making) : await storeEmulated(parts, making);
    kept = await withPlausibleTokens(kept, making, parts, call.requestId);
    // Referenced media were downloaded meanwhile, and other caches may have been created.
    if (kept.bytes > call.bytes.length) await checkCacheLimits(parts, entry.value, kept.bytes);
  } catch (error) {
    await abandon(parts, entry, null, error);
    throw error;
  }
  const isImplicit = isCachedImplicitly(place);
  const cache = await finish(entry, { ...kept, chargedTokens: isImplicit ? 0 : kept.tokens }, creation);
  return { cache, droppedFields: kept.droppedFields, isImplicit };
}

async function begin(place: CachePlace, { parts, call, request, model, now }: Creation): Promise<CacheEntry> {
  const { store } = parts;
  const { provider } = place;
  const { modelName, displayName } = request;
  const expiresAt = limitExpiry(parts.maxLifeMs, now, request.expiresAt);
  const cache: CachedContent = {
    id: newCacheId(store.now()),
    account: call.accountId,
    keyId: call.keyId,
    model: model.id,
    modelName,
    displayName,
    state: "creating",
    home: isStoredAtVendor(place)
      ? { kind: "native", provider: idOf(provider), upstreamName: null }
      : { kind: "emulated", provider: idOf(provider), headBytes: 0 },
    createdAt: now,
    updatedAt: now,
    expiresAt,
    tokens: 0,
    countedBy: null,
    revision: 0,
  };
  const added = addCache({}, cache, call.bytes.length);
  const commit = addExpiry(added, cache.id, 0, laterBy(store.now(), PATIENCE_MS));
  const entry = addedCache(cache, commit, await store.commit(null, commit));
  if (entry === null) throw new GatewayError("internal_error", "Cannot store the cached content");
  return entry;
}

/** Makes the cache usable and charges it in one commit. */
async function finish(
  entry: CacheEntry,
  kept: StoredContent & { readonly chargedTokens: number },
  { parts, call, model, settlement, now: createdAt }: Creation,
): Promise<CachedContent> {
  const { id } = entry.value;
  const { home, tokens, countedBy, expiresAt } = kept;
  const change = { state: "ready", home, tokens, countedBy, expiresAt, revision: 1 } as const;
  const charge = {
    provider: providerNameOf(home.provider),
    state: "completed",
    parts: [{
      quantities: cacheQuantitiesOf(kept.chargedTokens, home.kind === "native" ? expiresAt - createdAt : 0),
      tariff: tariffFor(model, tokens),
    }],
    usage: { ...NO_USAGE, cacheWrite1hTokens: kept.chargedTokens },
  } as const;
  const { accountId, keyId, requestId } = call;
  await settlement.chargeWithin(charge, async (row) => {
    const made = setBytes(changeCache({}, entry, change), entry.value, Math.max(kept.bytes, call.bytes.length));
    const now = parts.store.now();
    const ready = addExpiry(made, id, 1, laterBy(now, expiresAt - now + GRACE_MS));
    const rows = row === null ? [] : [{ ...row, at: parts.store.now() }];
    const commit = row === null ? ready : addCharge(ready, { account: accountId, reference: `cache_${id}`, rows });
    if (await commitSurely(parts.store, `cache_ready_${id}`, commit)) return;
    // Only the expiry job can have changed it meanwhile.
    const late = new GatewayError("upstream_timeout", "Cannot create the cached content: the request timed out");
    await abandon(parts, entry, home, late);
    throw late;
  });
  const about = { ref: id, state: home.kind, model: model.id, provider: home.provider, inputTokens: tokens };
  parts.log.info("cache_created", { ...about, requestId, accountId, keyId });
  return { ...entry.value, ...change };
}

/**
 * A commit with an unknown result is repeated under the same name. If the result stays unknown, the expiry job decides.
 */
async function commitSurely(store: Store, operation: string, commit: Commit): Promise<boolean> {
  try {
    return (await store.commit(operation, commit)).ok;
  } catch {
    return (await store.commit(operation, commit)).ok;
  }
}

/**
 * Removes everything after a failed create: the gateway's files at once, and a possible copy at the vendor by the job
 * that removes ended caches.
 *
 * @param home Where the content is stored, once known.
 */
async function abandon(parts: CacheParts, entry: CacheEntry, home: CacheHome | null, error: unknown): Promise<void> {
  const { store, files, log, providers } = parts;
  const { id, home: planned } = entry.value;
  const surelyRefused = error instanceof UpstreamFailure && error.facts.accepted === "no";
  try {
    if (planned.kind === "emulated") await files.remove(cacheFileOf(id));
    const isClean = planned.kind === "emulated" || (surelyRefused && home === null);
    const named = { ...entry, value: { ...entry.value, home: home ?? planned } };
    const { ok } = await store.commit(null, isClean ? dropCache({}, entry) : endCache({}, named, store.now()));
    // The job that ended it may have looked for the vendor's copy too early.
    if (!ok && home?.kind === "native") {
      await providers.get(home.provider)?.capabilities.caches?.remove(home.upstreamName ?? "");
    }
  } catch (cause) {
    // The expiry job of this create ends it later.
    log.warn("cache_abandon_failed", { ref: id, reason: cause instanceof Error ? cause.name : "no error" });
  }
}
