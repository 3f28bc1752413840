import type { JsonObject } from "../../../platform/lib/json/json_object.ts";

/** A validated request to create a cache at a vendor. */
export interface CacheOrder {
  /** A name that the vendor stores with the cache and by which the gateway finds it again. */
  readonly mark: string;
  /** The vendor's name of the model. */
  readonly model: string;
  /** `contents`, and optionally `systemInstruction`, `tools` and `toolConfig`, in the content format. */
  readonly content: JsonObject;
  /** The time at which the vendor deletes it, in Unix milliseconds. */
  readonly expiresAt: number;
  /** Returns the signal that aborts when the caller disconnects. */
  readonly callerSignal: () => AbortSignal;
}

/** A cache at a vendor. */
export interface UpstreamCache {
  /** The name for references and deletion. */
  readonly name: string;
  /** The number of tokens, as the vendor counts them; 0 if that cannot be read. */
  readonly tokens: number;
  /** The time at which the vendor deletes it, in Unix milliseconds; null if not reported. */
  readonly expiresAt: number | null;
}

/**
 * The cache capability of a vendor. It does not depend on callers, billing or the store. Every failure is an
 * `UpstreamFailure`.
 */
export interface CacheUpstream {
  /** Creates a cache. */
  create(order: CacheOrder): Promise<UpstreamCache>;
  /**
   * Changes the expiry of a cache.
   *
   * @param expiresAt Unix milliseconds.
   * @returns False if the vendor no longer has the cache.
   */
  extend(name: string, expiresAt: number): Promise<boolean>;
  /** Deletes a cache. Deleting a cache that does not exist succeeds. */
  remove(name: string): Promise<void>;
  /** Returns the names of the caches with that mark. Used after a creation without a response. */
  find(mark: string): Promise<readonly string[]>;
}
