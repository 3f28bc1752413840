import { elementAt } from "../src/platform/lib/collections/element_at.ts";

/** The median and the slow end of a sample. */
export interface Spread {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** The median of a few measurements, the smallest and the largest. */
export interface Range {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The median and the range of a few measurements; null without one. */
export function rangeOf(sample: readonly number[]): Range | null {
  const median = medianOf(sample);
  return median === null ? null : { median, min: Math.min(...sample), max: Math.max(...sample) };
}

/** The median and the slow end; null for an empty sample. */
export function spreadOf(sample: readonly number[]): Spread | null {
  if (sample.length === 0) return null;
  const sorted = Float64Array.from(sample).sort();
  return { p50: atQuantile(sorted, 0.5), p99: atQuantile(sorted, 0.99), max: atQuantile(sorted, 1) };
}

/** The median; of an even number the mean of the two in the middle; null for an empty sample. */
export function medianOf(sample: readonly number[]): number | null {
  const sorted = Float64Array.from(sample).sort();
  const middle = sorted.length >> 1;
  const [below, above] = [sorted[sorted.length % 2 === 1 ? middle : middle - 1], sorted[middle]];
  return below === undefined || above === undefined ? null : (below + above) / 2;
}

/** The median of a sample, and the interval that contains that of the population with 95 % confidence. */
export interface Interval {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 2_000;
/** The share of the resamples outside of the interval, on each side. */
const TAIL = 0.025;

/**
 * The median of a sample of several groups, such as processes, and its interval by a bootstrap of two stages: groups
 * are drawn with replacement, then values within them. So the interval also covers what differs between the groups.
 * Null without a value. Source: Davison and Hinkley, Bootstrap Methods and their Application, 3.8.
 *
 * @param random Uniform in [0, 1).
 */
export function intervalOf(
  groups: readonly (readonly number[])[],
  random: () => number = Math.random,
): Interval | null {
  const filled = groups.filter((group) => group.length > 0);
  const median = medianOf(filled.flat());
  if (median === null) return null;
  const draw = <Item>(items: readonly Item[]) =>
    items.map(() => elementAt(items, Math.min(items.length - 1, Math.floor(random() * items.length))));
  const medians = Float64Array.from({ length: RESAMPLES }, () => medianOf(draw(filled).flatMap(draw)) ?? median).sort();
  return { median, low: atQuantile(medians, TAIL), high: atQuantile(medians, 1 - TAIL) };
}

/** The least value that is not below a share of the sample: nearest rank. */
function atQuantile(sorted: Float64Array, quantile: number): number {
  return elementAt(sorted, Math.max(0, Math.ceil(quantile * sorted.length) - 1));
}
