import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { Late } from "../../../platform/lib/process/late.ts";
import type { BatchUpstream } from "./batch_upstream.ts";
import type { CacheUpstream } from "./cache_upstream.ts";
import type { EmbeddingUpstream } from "./embedding_upstream.ts";
import type { ImageUpstream } from "./image_upstream.ts";
import type { ModerationUpstream } from "./moderation_upstream.ts";
import type { Outbound } from "../call/outbound_call.ts";
import type { RankUpstream } from "./rank_upstream.ts";
import type { SpeechUpstream } from "./speech_upstream.ts";
import type { TranscriptUpstream } from "./transcript_upstream.ts";
import type { EndpointSettings } from "./endpoint_settings.ts";
import type { VideoUpstream } from "./video_upstream.ts";

/**
 * What a provider has besides text. What its vendor lacks is absent. The code of what few use is loaded by the first
 * request for it.
 */
export interface Capabilities {
  /** Images that are made or edited. */
  readonly images?: ImageUpstream;
  /** Video tasks. */
  readonly videos?: VideoUpstream;
  /** Explicit cached contents. */
  readonly caches?: CacheUpstream;
  /** Embeddings of texts. */
  readonly embeddings?: Late<EmbeddingUpstream>;
  /** Moderations of texts. */
  readonly moderations?: Late<ModerationUpstream>;
  /** Rankings of documents. */
  readonly ranks?: Late<RankUpstream>;
  /** Speech from text. */
  readonly speech?: Late<SpeechUpstream>;
  /** Transcriptions and translations. */
  readonly transcripts?: Late<TranscriptUpstream>;
  /** Batches of requests for text. Absent also if the operator has switched them off. */
  readonly batches?: Late<BatchUpstream>;
  /**
   * What the vendor's batches take besides text, made with a client that writes a request for a batch, or has its
   * reply. Absent: text only.
   */
  readonly batched?: (outbound: Outbound) => BatchedCapabilities;
}

/** What batches of vendors take besides text. */
export type BatchedCapabilities = Pick<Capabilities, "embeddings" | "moderations">;

/** What capabilities are made from, for one provider. */
export interface CapabilityParts {
  /** Calls the vendor. */
  readonly outbound: Outbound;
  /** The provider's settings that endpoints depend on. */
  readonly settings: EndpointSettings;
  /** For the pauses between the polls of image jobs. */
  readonly clock: Clock;
}
