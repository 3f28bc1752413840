import type { Labels, Sample } from "../basics/metric_family.ts";

/** Upper bounds of the durations of requests in seconds: from fast local replies to long streams. */
export const REQUEST_SECONDS: readonly number[] = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Upper bounds of the durations of internal work in seconds. */
export const WORK_SECONDS: readonly number[] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** Upper bounds of numbers of items. */
export const ITEM_COUNTS: readonly number[] = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/** Counts values by ranges. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: Float64Array;
  #sum = 0;

  /** @param bounds The upper bounds of the ranges, ascending and inclusive. Greater values are counted too. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  /** Counts a value; a time that is below zero, since the machine's clock was set back, as zero. */
  observe(counted: number): void {
    const value = Math.max(0, counted);
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > bounds[at]!) at++;
    this.#counts[at]!++;
    this.#sum += value;
  }

  /** Adds the values of another histogram with the same ranges. */
  add(counts: readonly number[], sum: number): void {
    for (let at = 0; at < this.#counts.length; at++) this.#counts[at]! += counts[at] ?? 0;
    this.#sum += sum;
  }

  /** The sum of the values. */
  get sum(): number {
    return this.#sum;
  }

  /** The number of values in each range; the last one has those above all bounds. */
  get counts(): ArrayLike<number> {
    return this.#counts;
  }

  /** Returns the values in the form of Prometheus: cumulative counts by upper bound, the sum, and the count. */
  samples(name: string, labels: Labels): Sample[] {
    const samples: Sample[] = [];
    let count = 0;
    this.#counts.forEach((own, at) => {
      count += own;
      const le = at < this.#bounds.length ? String(this.#bounds[at]) : "+Inf";
      samples.push({ labels: { ...labels, le }, value: count, metricName: `${name}_bucket` });
    });
    samples.push({ labels, value: this.#sum, metricName: `${name}_sum` });
    samples.push({ labels, value: count, metricName: `${name}_count` });
    return samples;
  }
}
