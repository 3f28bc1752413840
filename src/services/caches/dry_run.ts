import { appendAll } from "../../platform/lib/collections/append_all.ts";
import { fixedReservation } from "../../money/billing/meter/meter.ts";
import { isAdmitted, type ProbedAdmission, probedAdmission } from "../calls/dry_run.ts";
import type { Model, Serving } from "../../vendors/catalog/model.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";
import { byWeight } from "../../vendors/routing/candidates.ts";
import { isStoredAtVendor } from "./reference.ts";
import { checkCacheLimits } from "./cache_limits.ts";
import type { CacheParts } from "./cache_parts.ts";
import { newCacheId } from "./cached_content.ts";
import { type CacheCall, routeCache } from "./create.ts";
import { translateContent } from "./emulated.ts";
import { limitExpiry } from "./lifetime.ts";

/** The result of a dry run of a create. */
export interface CacheDryRun {
  readonly model: Model;
  /** The providers that may store the content, most likely first; at least one. */
  readonly providers: readonly string[];
  readonly maxTokens: number;
  readonly maxCost: Money;
  /** The fields that the model would not receive at one of the providers. Unknown if it would not be admitted. */
  readonly dropped: readonly string[];
  /** Whether it would be admitted now. */
  readonly admission: ProbedAdmission;
}

/**
 * Runs a create without execution: all checks of a real one, with media that a provider's format cannot refer to, but
 * no charge and nothing stored.
 *
 * @throws {GatewayError} What a real create would throw before a vendor is called, except for a refusal by the balance
 * or a limit.
 */
export async function dryRunCache(parts: CacheParts, call: CacheCall): Promise<CacheDryRun> {
  const now = parts.store.now();
  const { request, model, candidates, maxTokens, maxCost } = await routeCache(parts, call, now);
  const { accountId, callerSignal, memory } = call;
  const id = newCacheId(now);
  const admission = await probedAdmission(async () => {
    const reserved = await parts.meter.probe(call, fixedReservation(maxCost, maxTokens));
    await checkCacheLimits(parts, { keyId: call.keyId, id }, call.bytes.length);
    return reserved;
  });
  const likely = byWeight(candidates, { breaker: parts.breaker, accountId });
  const { content } = request;
  const expiresAt = limitExpiry(parts.maxLifeMs, now, request.expiresAt);
  const droppedAt = async (serving: Serving): Promise<readonly string[]> => {
    const provider = parts.providers.get(serving.provider)!;
    if (isStoredAtVendor({ provider, model, serving })) return [];
    const making = { id, provider, serving, model, content, expiresAt, callerSignal, memory };
    return (await translateContent(parts, making)).droppedFields;
  };
  const dropped: string[] = [];
  if (isAdmitted(admission)) {
    for (const candidate of likely) {
      const heldBefore = memory.held;
      appendAll(dropped, await droppedAt(candidate));
      memory.releaseTo(heldBefore);
    }
  }
  return {
    model,
    providers: [...new Set(likely.map(({ provider }) => providerNameOf(provider)))],
    maxTokens,
    maxCost,
    dropped: [...new Set(dropped)],
    admission,
  };
}
