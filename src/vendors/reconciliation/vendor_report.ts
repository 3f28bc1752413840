import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { ExactUsd } from "./exact_usd.ts";

/** Days since 1970, UTC. */
export interface ReportRange {
  /** The first one. */
  readonly fromDay: number;
  /** The day after the last one. */
  readonly toDay: number;
}

/** An item of a vendor's bill. */
export interface BilledItem {
  /** Null if the bill does not name days. */
  readonly day: number | null;
  /** The vendor's name of the model; null for an item that is not of one model, such as the searches of all. */
  readonly model: string | null;
  /** A price key such as `completion`, else the vendor's words; null if the bill does not split the cost. */
  readonly dimension: string | null;
  /** Why its price is another one: `long context`, `priority`. Null for the usual price. */
  readonly condition: string | null;
  readonly amount: ExactUsd;
  /** The number of units; null if it is not stated. */
  readonly quantity: number | null;
}

/** What a vendor counted for one model. Null for what is not stated. */
export interface CountedUsage {
  readonly day: number | null;
  readonly model: string;
  readonly requests: number | null;
  /** All of the prompts, with the tokens of caches. */
  readonly inputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly outputTokens: number | null;
  /** Quantities by price key, for items without one. Default: none. */
  readonly quantities?: Readonly<Record<string, number>>;
}

/** Takes what a vendor reports, in any order. */
export interface ReportSink {
  addItem(item: BilledItem): void;
  addUsage(usage: CountedUsage): void;
}

/** Reads an address of a report. */
export type ReadReport = (path: string, query: URLSearchParams) => Promise<unknown>;

/** The largest number of answers that one report has. A month has five of seven days. */
export const MAX_REPORT_PAGES = 60;
/** Days of one answer, so that it stays small enough to be parsed in one step. */
export const DAYS_PER_PAGE = 7;

/** A report that does not have the documented shape. */
export function unexpectedReport(what: string): GatewayError {
  return new GatewayError("upstream_error", `Cannot read the vendor's report: ${what}`);
}
