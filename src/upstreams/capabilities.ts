import type { EmbeddingUpstream } from "./embedding_upstream.ts";
import type { ModerationUpstream } from "./moderation_upstream.ts";
import type { Outbound } from "./outbound_call.ts";
import type { RankUpstream } from "./rank_upstream.ts";

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
}
