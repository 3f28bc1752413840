import type { Quirks } from "../conversation/quirks.ts";
import type { Redactor } from "../lib/redact.ts";
import type { Allowances } from "./allowances.ts";
import type { CacheUpstream } from "./cache_upstream.ts";
import type { ImageUpstream } from "./image_upstream.ts";
import type { ListedModel } from "./model_listing.ts";
import type { Outbound } from "./outbound_call.ts";
import type { TextEndpoint } from "./upstream.ts";
import type { VideoUpstream } from "./video_upstream.ts";

/** A configured account with a vendor: what a pin names, and what a request is sent through. */
export interface Provider {
  /** As the operator named it and as pins spell it. */
  readonly name: string;
  /** The way out to its vendor, which adds address and key. */
  readonly outbound: Outbound;
  /** Removes the provider's key and whatever looks like one from its own words. */
  readonly redact: Redactor;
  /** Where it talks text, in order of preference for a caller of another form; empty when it does not. */
  readonly text: readonly TextEndpoint[];
  /** How it makes pictures; null when its kind does not. */
  readonly images: ImageUpstream | null;
  /** How it makes videos; null when its kind does not. */
  readonly videos: VideoUpstream | null;
  /** How it keeps contents under a name; missing where its kind does not. */
  readonly caches?: CacheUpstream;
  /**
   * Resolves when the vendor accepts the credential, as `CredentialProbe` of its kind; missing where it cannot be
   * asked.
   */
  readonly probe?: (signal: AbortSignal) => Promise<void>;
  /** The models that its vendor lists, as `listModels` reads them; missing where its kind has no list. */
  readonly listModels?: (signal: AbortSignal) => Promise<readonly ListedModel[]>;
  /** What its callers may use beside what belongs to their own account; left out: nothing. */
  readonly allows?: Allowances;
  /** What its wire formats differ in from those that their authors document. */
  readonly quirks: Quirks;
  /** Longest wait for the first byte of a streamed reply. */
  readonly streamFirstByteMs: number;
  /** Longest wait for the first byte of a whole reply, which comes when the model has finished. */
  readonly wholeFirstByteMs: number;
}
