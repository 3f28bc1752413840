import type { RecordedTokens } from "../../platform/http/request/request_record.ts";

/** Charged tokens, as in the record of a request. */
export type TokenCounts = Omit<RecordedTokens, "isEstimated">;

/** The values of a histogram: their number in each range, and their sum. */
export interface HistogramCounts {
  readonly counts: readonly number[];
  readonly sum: number;
}

/** What one thread counted of the requests of one endpoint that one provider served with one model. */
export interface CallCounts {
  readonly endpoint: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly outcomes: readonly { readonly status: number; readonly code: string; readonly count: number }[];
  readonly duration: HistogramCounts;
  readonly firstByte: HistogramCounts;
  readonly ends: readonly (readonly [end: string, count: number])[];
  readonly tokens: TokenCounts;
  readonly images: number;
  readonly costUnits: bigint;
  /** What vendors' caches saved, and what they cost more than no cache. */
  readonly savedUnits: bigint;
  readonly extraUnits: bigint;
  readonly droppedFields: number;
}

/** What one thread counted of the attempts at one provider with one outcome. */
export interface AttemptOutcomeCounts {
  readonly provider: string;
  readonly outcome: string;
  readonly count: number;
  readonly fallbacks: number;
}

/** How often vendors refused a field of a model's requests that no fact foresaw. */
export interface RefusalCounts {
  readonly model: string;
  readonly field: string;
  readonly count: number;
}

/** Requests of a model with usage of a kind that has no price. */
export interface UnpricedCount {
  readonly model: string;
  /** The key of a price, or `service_tier`. */
  readonly dimension: string;
  readonly count: number;
}

/** What one thread counted of its requests since it was last asked. Plain values. */
export interface RequestCounts {
  readonly calls: readonly CallCounts[];
  readonly attempts: readonly AttemptOutcomeCounts[];
  readonly refusals: readonly RefusalCounts[];
  /** The durations of the requests whose first byte is counted. */
  readonly served: HistogramCounts;
  readonly unpriced: readonly UnpricedCount[];
}
