import { elementAt } from "../src/lib/element_at.ts";

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

/** The least value that is not below a share of the sample: nearest rank. */
function atQuantile(sorted: Float64Array, quantile: number): number {
  return elementAt(sorted, Math.max(0, Math.ceil(quantile * sorted.length) - 1));
}
