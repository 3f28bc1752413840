import type { EmbeddingUpstream } from "./embedding_upstream.ts";
import type { ModerationUpstream } from "./moderation_upstream.ts";
import type { Outbound } from "./outbound_call.ts";
import type { RankUpstream } from "./rank_upstream.ts";
import type { SpeechUpstream } from "./speech_upstream.ts";
import type { TranscriptUpstream } from "./transcript_upstream.ts";

/**
 * The capabilities of a kind whose code is loaded by the first request for them. Those that the vendor lacks are
 * absent.
 */
export interface LazyCapabilities {
  /** Creates the capability of embeddings. */
  readonly embeddings?: (outbound: Outbound) => Promise<EmbeddingUpstream>;
  /** Creates the capability of moderations. */
  readonly moderations?: (outbound: Outbound) => Promise<ModerationUpstream>;
  /** Creates the capability of ranks. */
  readonly ranks?: (outbound: Outbound) => Promise<RankUpstream>;
  /** Creates the capability of speech. */
  readonly speech?: (outbound: Outbound) => Promise<SpeechUpstream>;
  /** Creates the capability of transcriptions and translations. */
  readonly transcripts?: (outbound: Outbound) => Promise<TranscriptUpstream>;
}
