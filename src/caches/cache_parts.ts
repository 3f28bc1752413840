import type { CacheCreation } from "./cache_creation.ts";
import type { CallParts } from "../calls/paid_call.ts";
import type { Model, Serving } from "../catalog/model.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { FileStore } from "../files/files.ts";
import type { StateOwnership } from "../ownership/state_ownership.ts";
import type { Store } from "../store/store.ts";
import type { Provider } from "../upstreams/provider.ts";

/** Counts the tokens of a conversation at one provider: by its own counter, else by the gateway's tokenizer. */
export type CountAt = (
  serving: Serving,
  model: Model,
  question: Pick<CacheCreation, "callerSignal" | "memory"> & { readonly conversation: Conversation },
) => Promise<{ readonly tokens: number; readonly countedBy: string | null }>;

/** How many cached contents one credential may have at a time, and how much in them. */
export interface CacheLimits {
  /** Default: 1000. */
  readonly count: number;
  /** Bytes, as sent or as kept in files, whichever is more. Default: 1 GB. */
  readonly bytes: number;
}

/** What caches are made with. */
export interface CacheParts extends CallParts {
  /** Its clock is theirs. */
  readonly store: Store;
  readonly vendorState: StateOwnership;
  /** A folder of their own. */
  readonly files: FileStore;
  readonly caps: CacheLimits;
  /** The longest life of a cache from its creation, in milliseconds, however often its end is moved; null for any. */
  readonly maxLifeMs: number | null;
  /**
   * The text model of that name.
   *
   * @throws {GatewayError} `model_not_found`, `invalid_request` for one that does not talk text.
   */
  readonly modelOf: (name: string) => Model;
  readonly countAt: CountAt;
  /** Counts the tokens of a conversation by the gateway's tokenizer. */
  readonly countHere: (conversation: Conversation) => Promise<number>;
  /** The conversation with every addressed medium fetched that the provider's preferred form cannot name. */
  readonly inlined: (
    conversation: Conversation,
    provider: Provider,
    asker: Pick<CacheCreation, "callerSignal" | "memory">,
  ) => Promise<Conversation>;
}
