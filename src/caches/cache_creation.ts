import type { MemoryLease } from "../lib/memory_budget.ts";
import type { Model, Serving } from "../catalog/model.ts";
import type { RequestTarget } from "../conversation/upstream_format.ts";
import { modelFacts } from "../conversation/known_models.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { Provider } from "../upstreams/provider.ts";
import type { CachedContent } from "./cached_content.ts";

/** A cache that is being made at one provider. */
export interface CacheCreation {
  readonly id: string;
  readonly provider: Provider;
  readonly serving: Serving;
  readonly model: Model;
  /** In the content form. */
  readonly content: JsonObject;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** Gives the signal that fires when the caller leaves. */
  readonly callerSignal: () => AbortSignal;
  /** Pays for what is read for the cache. */
  readonly memory: MemoryLease;
}

/** What became of the content at a provider. */
export interface StoredContent extends Pick<CachedContent, "home" | "tokens" | "countedBy" | "expiresAt"> {
  /** What the gateway keeps of it; 0 when that is nothing. */
  readonly bytes: number;
  /** Names, in the caller's spelling, of what the model will not be told. */
  readonly losses: readonly string[];
}

/** What a codec must know of where a cache is being made. */
export function targetOf({ provider, serving, model }: CacheCreation): RequestTarget {
  return {
    model: serving.model,
    provider: provider.name,
    maxOutputTokens: model.topProvider.maxCompletionTokens || null,
    facts: modelFacts(serving.model, model),
    quirks: provider.quirks,
  };
}
