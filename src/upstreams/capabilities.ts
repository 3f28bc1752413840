import type { EmbeddingUpstream } from "./embedding_upstream.ts";
import type { Outbound } from "./outbound_call.ts";

/**
 * The capabilities of a kind whose code is loaded by the first request for them. Those that the vendor lacks are
 * absent.
 */
export interface LazyCapabilities {
  /** Creates the capability of embeddings. */
  readonly embeddings?: (outbound: Outbound) => Promise<EmbeddingUpstream>;
}
