import type { JsonObject } from "../lib/json_object.ts";

/** A content to be kept by a vendor, already checked. */
export interface CacheOrder {
  /** A name of the gateway's own that the vendor keeps with the cache, by which it is found again. */
  readonly mark: string;
  /** The vendor's name of the model. */
  readonly model: string;
  /** `contents`, and where given `systemInstruction`, `tools` and `toolConfig`, in the content form. */
  readonly content: JsonObject;
  /** Unix milliseconds at which the vendor is to forget it. */
  readonly expiresAt: number;
  /** Gives the signal that fires when the caller leaves. */
  readonly callerSignal: () => AbortSignal;
}

/** A cache as its vendor has it. */
export interface UpstreamCache {
  /** What references and deletions name. */
  readonly name: string;
  /** How many tokens it holds, by the vendor's count; 0 where that cannot be read. */
  readonly tokens: number;
  /** Unix milliseconds at which the vendor forgets it; null where it does not say. */
  readonly expiresAt: number | null;
}

/**
 * A vendor that keeps contents under a name. Knows no caller, no money and no store; every failure is an
 * `UpstreamFailure`.
 */
export interface CacheUpstream {
  /** Has the vendor keep a content. */
  create(order: CacheOrder): Promise<UpstreamCache>;
  /**
   * Moves a cache's end.
   *
   * @param expiresAt Unix milliseconds.
   * @returns False when the vendor has no such cache any more.
   */
  extend(name: string, expiresAt: number): Promise<boolean>;
  /** Deletes a cache; one that is not there is deleted already. */
  remove(name: string): Promise<void>;
  /** The names of the caches with that mark: what a create left whose answer never came. */
  find(mark: string): Promise<readonly string[]>;
}
