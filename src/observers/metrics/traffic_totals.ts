/** What all requests since the start amount to. */
export interface TrafficTotals {
  readonly requests: number;
  /** Requests that failed, by the code of the error. */
  readonly errors: Readonly<Record<string, number>>;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The charged amount in 10^-10 USD. */
  readonly costUnits: bigint;
  /** Successful requests by duration, in the ranges of `REQUEST_SECONDS` and one more for all above. */
  readonly durations: readonly number[];
  /** The same requests by the time until the first byte. So no quantile of it is above that of the duration. */
  readonly firstBytes: readonly number[];
}

/** No requests. */
export const NO_TRAFFIC: TrafficTotals = {
  requests: 0,
  errors: {},
  inputTokens: 0,
  outputTokens: 0,
  costUnits: 0n,
  durations: [],
  firstBytes: [],
};

/** The sum of two totals. */
export function addTraffic(one: TrafficTotals, other: TrafficTotals): TrafficTotals {
  const counts = (left: readonly number[], right: readonly number[]) =>
    Array.from({ length: Math.max(left.length, right.length) }, (_, range) => (left[range] ?? 0) + (right[range] ?? 0));
  const errors = { ...one.errors };
  for (const [code, count] of Object.entries(other.errors)) errors[code] = (errors[code] ?? 0) + count;
  return {
    requests: one.requests + other.requests,
    errors,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    costUnits: one.costUnits + other.costUnits,
    durations: counts(one.durations, other.durations),
    firstBytes: counts(one.firstBytes, other.firstBytes),
  };
}

/** What happened between two totals. */
export function trafficBetween(before: TrafficTotals, after: TrafficTotals): TrafficTotals {
  const counts = (one: readonly number[], other: readonly number[]) =>
    other.map((count, range) => count - (one[range] ?? 0));
  const errors = Object.entries(after.errors).map(([code, count]) =>
    [code, count - (before.errors[code] ?? 0)] as const
  );
  return {
    requests: after.requests - before.requests,
    errors: Object.fromEntries(errors.filter(([, count]) => count > 0)),
    inputTokens: after.inputTokens - before.inputTokens,
    outputTokens: after.outputTokens - before.outputTokens,
    costUnits: after.costUnits - before.costUnits,
    durations: counts(before.durations, after.durations),
    firstBytes: counts(before.firstBytes, after.firstBytes),
  };
}

/**
 * Estimates a quantile from counts by ranges: the values of a range are assumed to be spread evenly.
 *
 * @param quantile Between 0 and 1.
 * @param bounds The upper bounds of the ranges, ascending. Values above the last bound count as that bound.
 * @returns Null without values.
 */
export function quantileOf(quantile: number, counts: readonly number[], bounds: readonly number[]): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = quantile * total;
  let below = 0;
  for (const [range, count] of counts.entries()) {
    const upper = bounds[range];
    if (upper === undefined) break;
    if (count > 0 && below + count >= rank) {
      const lower = bounds[range - 1] ?? 0;
      return lower + (upper - lower) * (rank - below) / count;
    }
    below += count;
  }
  return bounds.at(-1) ?? null;
}
