import type { UsageSums } from "./usage_records.ts";

/** What usage can be grouped by. */
export const USAGE_DIMENSIONS = ["account", "key", "model", "provider", "kind", "day"] as const;

/** One of {@linkcode USAGE_DIMENSIONS}. */
export type UsageDimension = typeof USAGE_DIMENSIONS[number];

/** The value of a dimension: a day as days since 1970, others as text; null for an unknown key. */
export type UsageValue = string | number | null;

/** The sums of one group. */
export interface UsageGroup {
  /** In the order of `groupBy`. */
  readonly values: readonly UsageValue[];
  readonly sums: UsageSums;
}

/** Compares the values of two groups: null first, days by time, text by its characters. */
export function compareValues(one: readonly UsageValue[], other: readonly UsageValue[]): number {
  for (const [place, left] of one.entries()) {
    const right = other[place] ?? null;
    if (left === right) continue;
    if (left === null || right === null) return left === null ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return 0;
}
