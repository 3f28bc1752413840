import { ACCOUNT_ID_EXPECTATION, isAccountId } from "../../money/billing/accounts/account_id.ts";
import type { CacheAdmin, UsedCache } from "../../services/caches/cache_admin.ts";
import { cacheNameOf, isCacheId } from "../../services/caches/cached_content.ts";
import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import { pathParam } from "../../platform/http/request/inbound.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { type AdminRoute, adminRoute } from "./shared/admin_route.ts";
import { answerJson } from "./shared/answer.ts";
import { PAGE_PARAMETERS, readPage } from "./shared/query.ts";

/** The dependencies of the endpoints of cached contents. */
export interface AdminCacheOptions {
  readonly admin: CacheAdmin;
}

/** The endpoints of cached contents of the admin API. Source: docs/api/admin.md#caches. */
export function adminCacheRoutes({ admin }: AdminCacheOptions): AdminRoute[] {
  return [
    adminRoute(OPERATOR_ENDPOINTS.listCaches, async ({ query }) => {
      const page = readPage(query);
      if (page.after !== undefined && !isCacheId(page.after)) {
        throw invalidField("after", 'expected the "next" of an earlier page');
      }
      const account = new URLSearchParams(query).get("account");
      if (account !== null && !isAccountId(account)) {
        throw invalidField("account", `expected ${ACCOUNT_ID_EXPECTATION}`);
      }
      const { caches, next } = await admin.list({ account }, page);
      return answerJson({ data: caches.map(writeCache), next });
    }, { parameters: [...PAGE_PARAMETERS, "account"] }),
    adminRoute(OPERATOR_ENDPOINTS.deleteCache, async ({ params, request }) => {
      await request.body?.cancel();
      return answerJson(writeCache(await admin.remove(pathParam(params, "cache"))));
    }),
  ];
}

/** For operators: nothing that the caller wrote. */
function writeCache({ cache, use: { hits, lastHitAt } }: UsedCache): JsonObject {
  const { id, account, keyId, model, home, tokens, countedBy, createdAt, updatedAt, expiresAt } = cache;
  return {
    id,
    name: cacheNameOf(id),
    account,
    key: keyId,
    model,
    provider: home.provider,
    stored_at: home.kind === "native" ? "vendor" : "gateway",
    tokens,
    counted_by: countedBy,
    created_at: secondsOf(createdAt),
    updated_at: secondsOf(updatedAt),
    expires_at: secondsOf(expiresAt),
    hits,
    last_hit_at: hits === 0 ? null : secondsOf(lastHitAt),
  };
}
