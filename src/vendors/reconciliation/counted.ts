import type { CountedUsage } from "./vendor_report.ts";

/** What was counted; null for what is not known. */
export type Counts = Pick<
  CountedUsage,
  "requests" | "inputTokens" | "cacheReadTokens" | "cacheWriteTokens" | "outputTokens"
>;

/** Nothing is known. */
export const UNKNOWN_COUNTS: Counts = countsBy(() => null);

/** Nothing was counted. */
export const NO_COUNTS: Counts = countsBy(() => 0);

/** The sum of counts; unknown if one of them is. */
export function addCounts(one: Counts, other: Counts): Counts {
  return countsBy((name) => both(one[name], other[name], (a, b) => a + b));
}

/** The first counts less the others. */
export function countsLess(one: Counts, other: Counts): Counts {
  return countsBy((name) => both(one[name], other[name], (a, b) => a - b));
}

function countsBy(valueOf: (name: keyof Counts) => number | null): Counts {
  return {
    requests: valueOf("requests"),
    inputTokens: valueOf("inputTokens"),
    cacheReadTokens: valueOf("cacheReadTokens"),
    cacheWriteTokens: valueOf("cacheWriteTokens"),
    outputTokens: valueOf("outputTokens"),
  };
}

function both(one: number | null, other: number | null, join: (one: number, other: number) => number): number | null {
  return one === null || other === null ? null : join(one, other);
}
