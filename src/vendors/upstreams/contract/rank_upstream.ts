import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { WholeExchange } from "../call/whole_exchange.ts";

/** Documents to rank by their relevance for a query. */
export interface RankOrder {
  /** The vendor's name of the model. */
  readonly model: string;
  /** What the documents are ranked for. */
  readonly query: string;
  /** At least one. */
  readonly documents: readonly string[];
  /** The number of results; at most that of the documents. */
  readonly count: number;
  /** Further fields of the caller's request. */
  readonly extras: JsonObject;
}

/** The relevance of one document. */
export interface RankedDocument {
  /** Its number in the request, from 0. */
  readonly index: number;
  /** The higher, the more relevant. */
  readonly score: number;
}

/** A vendor's reply. */
export interface RankOutcome {
  /** Most relevant first; as many as requested. */
  readonly results: readonly RankedDocument[];
  /** The tokens that the vendor reports, as it wrote them; null without a report. */
  readonly reportedTokens: unknown;
  /** The search units that the vendor reports, as it wrote them; null without a report. */
  readonly reportedUnits: unknown;
}

/** The ranks of one provider. */
export interface RankUpstream {
  /**
   * Ranks documents.
   *
   * @throws {UpstreamFailure} `broken` also for a reply with too few results, or with another index.
   */
  rank(order: RankOrder, exchange: WholeExchange): Promise<RankOutcome>;
}
