import type { PassThrough } from "../conversation/pass_through.ts";
import type { RequestTarget, UpstreamFormat } from "../conversation/upstream_format.ts";
import type { WriteResult } from "../conversation/write_result.ts";
import type { Clock } from "../lib/clock.ts";
import type { JsonObject } from "../lib/json_object.ts";
import type { Conversation, MediaPart } from "../conversation/conversation.ts";
import type { Authorize } from "./authorization.ts";
import type { CacheUpstream } from "./cache_upstream.ts";
import type { ImageUpstream } from "./image_upstream.ts";
import type { ModelListing } from "./model_listing.ts";
import type { Outbound } from "./outbound_call.ts";
import type { VideoUpstream } from "./video_upstream.ts";

/** One address of a vendor at which it holds conversations in one wire form. */
export interface TextEndpoint {
  /** How requests, replies, streams and errors are spelt there. */
  readonly format: UpstreamFormat;
  /** How the bytes of callers of the same format pass; null where they must be written anew all the same. */
  readonly pass: PassThrough | null;
  /**
   * The path below the provider's base address, with query.
   *
   * @param model The vendor's name of the model.
   */
  path(model: string, stream: boolean): string;
  /** Whether the vendor cannot take a medium as it is, so that the gateway must fetch it and send its bytes. */
  mustInline(part: MediaPart): boolean;
  /** Where the vendor counts the tokens of a request in this form; null where it does not. */
  readonly counter: TokenCounter | null;
}

/** A vendor's own token counter. */
export interface TokenCounter {
  /** The path below the provider's base address. `model` is the vendor's name of it. */
  path(model: string): string;
  /** The request to count; its losses do not matter to a count. */
  write(conversation: Conversation, target: RequestTarget): WriteResult<JsonObject>;
  /**
   * How many tokens the vendor counted.
   *
   * @throws {TypeError} If the reply holds no count.
   */
  readCount(reply: unknown): number;
}

/**
 * What is particular about one kind of vendor. Data first: an adapter names codecs, paths and headers, and knows no
 * caller, no money and no store. What a vendor lacks, its kind lacks.
 */
export interface UpstreamKind {
  /** Shows the vendor who sends a request. */
  readonly authorize: Authorize;
  /** Whether a secret key can stand beside the key, to sign with. Default: false. */
  readonly takesSecretKey?: boolean;
  /** Header fields that the vendor demands with every request; none when left out. */
  readonly demands?: Readonly<Record<string, string>>;
  /** Where the vendor talks text, in order of preference for a caller of another form; empty when it does not. */
  text(settings: TextSettings): readonly TextEndpoint[];
  /**
   * How the vendor makes pictures; null when it does not.
   *
   * @param clock For the pauses between the polls of a vendor whose pictures are jobs.
   */
  images(outbound: Outbound, clock: Clock): ImageUpstream | null;
  /** How the vendor makes videos; null when it does not. */
  videos(outbound: Outbound): VideoUpstream | null;
  /** How the vendor keeps contents under a name; missing where it does not. */
  caches?(outbound: Outbound): CacheUpstream;
  /** How to tell for nothing whether the vendor accepts the credential; missing where it has no such request. */
  readonly probe?: CredentialProbe;
  /** How the vendor lists its models; missing where it has no list. */
  readonly models?: ModelListing;
}

/**
 * Asks a vendor something that costs nothing and that only a good credential is answered. Resolves when the credential
 * was accepted; rejects with the `UpstreamFailure` otherwise, of kind `auth` when the vendor rejects the credential.
 */
export type CredentialProbe = (outbound: Outbound, signal: AbortSignal) => Promise<void>;

/** What an operator can choose about text at one provider. */
export interface TextSettings {
  /** Which of the default protocol's two forms the provider speaks (kinds `openai` and `xai` only). */
  readonly speaks: "chat" | "responses" | "both";
}
