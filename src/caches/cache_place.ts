import type { Model } from "../catalog/model.ts";
import { modelFacts } from "../conversation/known_models.ts";
import type { Candidate } from "../routing/candidates.ts";
import type { Provider } from "../upstreams/provider.ts";

/** A model at one provider, which may cache a content. */
export interface CachePlace {
  readonly provider: Provider;
  readonly model: Model;
  readonly serving: Pick<Candidate, "model">;
}

/** Whether the vendor stores contents for the model. Otherwise the gateway does. */
export function isStoredAtVendor(place: CachePlace): boolean {
  return place.provider.caches !== undefined && !isCachedImplicitly(place);
}

/**
 * Whether the model has only the cache that its vendor fills by itself. The content is then billed as input of each
 * request, and the create costs nothing.
 */
export function isCachedImplicitly({ provider, model, serving }: CachePlace): boolean {
  return modelFacts(serving.model, model, provider).hasExplicitCaches === false;
}
