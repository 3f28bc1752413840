import type { Authenticate } from "../../money/billing/authenticate.ts";
import { type CachedContent, cacheNameOf } from "../../services/caches/cached_content.ts";
import type { Caches } from "../../services/caches/caches.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../platform/endpoints/callers.ts";
import type { BodyLimits } from "../../platform/http/bodies/body.ts";
import {
  type Handler,
  type Inbound,
  type PageSizes,
  pathParam,
  type Route,
} from "../../platform/http/request/inbound.ts";
import { isDryRun } from "../../platform/http/request/dry_run.ts";
import { readJsonObject } from "../../platform/http/bodies/json_body.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";
import { readHeaderPin } from "../../vendors/routing/pin.ts";
import { droppedHeader, dryRunResponse, writeEstimatedCost } from "../dry_run_response.ts";
import { routesAt } from "../route_at.ts";

/** The dependencies of the cached content endpoints. */
export interface CachedContentParts {
  readonly caches: Caches;
  readonly authenticate: Authenticate;
  readonly bodyLimits: BodyLimits;
}

const PAGE_SIZES = { usual: 100, max: 1_000 };

/**
 * `/gencompat/v1beta/cachedContents` and the paths below it, also under `v1`, the default of current clients: create,
 * get, list, patch and delete. Source: docs/api/caches.md#endpoints.
 */
export function cachedContentRoutes(parts: CachedContentParts): Route[] {
  const one = (handle: (inbound: Inbound, parts: CachedContentParts) => Promise<Response>): Handler => (inbound) =>
    handle(inbound, parts);
  return [
    ...routesAt(ENDPOINTS.createCachedContent, one(create)),
    ...routesAt(ENDPOINTS.listCachedContents, one(list)),
    ...routesAt(ENDPOINTS.readCachedContent, one(read)),
    ...routesAt(ENDPOINTS.changeCachedContent, one(patch)),
    ...routesAt(ENDPOINTS.deleteCachedContent, one(remove)),
  ];
}

async function create(inbound: Inbound, { caches, authenticate, bodyLimits }: CachedContentParts): Promise<Response> {
  const { keyId, accountId, limits } = await authenticate(inbound);
  const isTrial = isDryRun(inbound.request.headers);
  const { body, bytes } = await readJsonObject(inbound, bodyLimits);
  const call = {
    requestId: inbound.requestId,
    keyId,
    accountId,
    limits,
    receivedAt: inbound.receivedAt,
    body,
    bytes,
    headerPin: readHeaderPin(inbound.request.headers),
    callerSignal: () => inbound.request.signal,
    memory: inbound.memory,
    record: inbound.record,
  };
  if (isTrial) {
    const { model: { id: model }, maxTokens, maxCost, ...found } = await caches.dryRun(call);
    const estimate = { prompt_tokens: maxTokens, ...writeEstimatedCost("cache", maxCost) };
    return dryRunResponse({ ...found, model, mode: "cache", fallbacks: [], estimate });
  }
  const { cache, droppedFields, isImplicit } = await caches.create(call);
  return answerWith(cache, droppedFields, isImplicit);
}

async function read(inbound: Inbound, { caches, authenticate }: CachedContentParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  return answerWith(await caches.read(keyId, nameIn(inbound)));
}

async function list(inbound: Inbound, { caches, authenticate }: CachedContentParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const { after, limit } = readPageQuery(inbound.query, PAGE_SIZES);
  const page = await caches.list(keyId, after, limit);
  const nextPageToken = page.next ?? undefined;
  return Response.json({ cachedContents: page.caches.map(writeCache), nextPageToken });
}

async function patch(inbound: Inbound, { caches, authenticate, bodyLimits }: CachedContentParts): Promise<Response> {
  const caller = await authenticate(inbound);
  const { body } = await readJsonObject(inbound, bodyLimits);
  const query = new URLSearchParams(inbound.query);
  const { requestId, receivedAt } = inbound;
  const updateMask = query.get("updateMask") || query.get("update_mask") || null;
  return answerWith(await caches.patch({ ...caller, requestId, receivedAt, name: nameIn(inbound), body, updateMask }));
}

async function remove(inbound: Inbound, { caches, authenticate }: CachedContentParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  await caches.remove(keyId, nameIn(inbound));
  return Response.json({});
}

function nameIn({ params }: Inbound): string {
  return cacheNameOf(pathParam(params, "id"));
}

/**
 * The page of a list that `pageSize` and `pageToken` select, in either spelling: the token of the page before, and the
 * size. As at the vendor, larger sizes are reduced to the maximum, and 0 selects the default.
 *
 * @param text The query without its question mark.
 * @throws {GatewayError} `invalid_request`.
 */
export function readPageQuery(
  text: string,
  { usual, max }: PageSizes,
): { readonly after: string | null; readonly limit: number } {
  const query = new URLSearchParams(text);
  const size = query.get("pageSize") ?? query.get("page_size") ?? "0";
  if (!/^\d{1,9}$/.test(size)) throw invalidField("pageSize", "expected a whole number from 0");
  return {
    after: query.get("pageToken") || query.get("page_token") || null,
    limit: Math.min(Number(size) || usual, max),
  };
}

/** The cache, who keeps it, who counted its tokens, and whether it is billed as input of each request. */
function answerWith(
  cache: CachedContent,
  droppedFields: readonly string[] = [],
  isImplicit: boolean = false,
): Response {
  const headers = {
    ...isImplicit && { "x-service-cache-billing": "input" },
    ...droppedHeader(droppedFields),
    "x-service-provider": providerNameOf(cache.home.provider),
    "x-service-model": cache.modelName,
    "x-service-counted-by": cache.countedBy ?? "gateway",
  };
  return Response.json(writeCache(cache), { headers });
}

/** The resource without what it holds, which is never shown. Source: docs/api/caches.md#resource. */
function writeCache(cache: CachedContent): Record<string, unknown> {
  return {
    name: cacheNameOf(cache.id),
    model: cache.modelName,
    displayName: cache.displayName ?? undefined,
    createTime: timeOf(cache.createdAt),
    updateTime: timeOf(cache.updatedAt),
    expireTime: timeOf(cache.expiresAt),
    usageMetadata: { totalTokenCount: cache.tokens },
  };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
