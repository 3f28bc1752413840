import type { CacheCreation } from "./cache_creation.ts";
import type { CallParts } from "../calls/paid_call.ts";
import type { Model, Serving } from "../../vendors/catalog/model.ts";
import type { CallerLimits } from "../../money/limits/permission.ts";
import type { Conversation } from "../../conversation/neutral/conversation.ts";
import type { FileStore } from "../../platform/files/files.ts";
import type { StateOwnership } from "../ownership/state_ownership.ts";
import type { Store } from "../../platform/store/store.ts";
import type { Provider } from "../../vendors/upstreams/contract/provider.ts";

/**
 * Counts the tokens of a conversation at one provider: with its own counter if it has one, else with the gateway's
 * tokenizer.
 */
export type CountAt = (
  serving: Serving,
  model: Model,
  question: Pick<CacheCreation, "callerSignal" | "memory"> & { readonly conversation: Conversation },
) => Promise<{ readonly tokens: number; readonly countedBy: string | null }>;

/** The limits per credential: the number of cached contents and their total size. */
export interface CacheLimits {
  /** Default: 1000. */
  readonly count: number;
  /** In bytes, as sent or as stored in files, whichever is more. Default: 1 GB. */
  readonly bytes: number;
}

/** Who names a model, and when. */
export interface CacheCaller {
  /** The limits of the key and its account; null for none. */
  readonly limits: CallerLimits | null;
  /** When the request began, in Unix milliseconds. */
  readonly receivedAt: number;
}

/** The dependencies of cached contents. */
export interface CacheParts extends CallParts {
  /** Its clock is used for all timestamps. */
  readonly store: Store;
  readonly vendorState: StateOwnership;
  /** A folder for caches only. */
  readonly files: FileStore;
  readonly caps: CacheLimits;
  /** The maximum life of a cache from its creation in milliseconds, regardless of patches; null for unlimited. */
  readonly maxLifeMs: number | null;
  /**
   * The text model of that name, with the providers that the limits permit and the prices of the request's moment.
   *
   * @throws {GatewayError} `model_not_found`; `permission_denied` if the limits do not permit the model;
   * `invalid_request` if the model does not support text.
   */
  readonly modelOf: (name: string, caller: CacheCaller) => Model;
  readonly countAt: CountAt;
  /** Counts the tokens of a conversation with the gateway's tokenizer. */
  readonly countHere: (conversation: Conversation) => Promise<number>;
  /**
   * Returns the conversation with all media downloaded that the provider's preferred format cannot refer to by address.
   */
  readonly inlined: (
    conversation: Conversation,
    provider: Provider,
    asker: Pick<CacheCreation, "callerSignal" | "memory">,
  ) => Promise<Conversation>;
}
