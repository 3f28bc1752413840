import type { HeldMemory } from "../../platform/lib/process/memory_budget.ts";
import type { Model, Serving } from "../../vendors/catalog/model.ts";
import type { RequestTarget } from "../../conversation/contract/upstream_format.ts";
import { modelFacts } from "../../conversation/models/known_models.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { Provider } from "../../vendors/upstreams/contract/provider.ts";
import type { CachedContent } from "./cached_content.ts";

/** A cache that is being created at one provider. */
export interface CacheCreation {
  readonly id: string;
  readonly provider: Provider;
  readonly serving: Serving;
  readonly model: Model;
  /** In the content format. */
  readonly content: JsonObject;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** Returns the signal that fires when the caller disconnects. */
  readonly callerSignal: () => AbortSignal;
  /** The memory lease for data read for the cache. */
  readonly memory: HeldMemory;
}

/** The stored content at a provider. */
export interface StoredContent extends Pick<CachedContent, "home" | "tokens" | "countedBy" | "expiresAt"> {
  /** The bytes stored by the gateway; 0 for none. */
  readonly bytes: number;
  /** The fields, in the caller's spelling, that the model does not receive. */
  readonly droppedFields: readonly string[];
}

/** The codec's view of the provider and model. */
export function targetOf({ provider, serving, model }: CacheCreation): RequestTarget {
  return {
    model: serving.model,
    provider: provider.name,
    maxOutputTokens: model.topProvider.maxCompletionTokens || null,
    facts: modelFacts(serving.model, model, provider),
    quirks: provider.quirks,
  };
}
