import { Histogram, ITEM_COUNTS, WORK_SECONDS } from "../lib/histogram.ts";
import type { MetricFamily } from "../lib/metric_family.ts";

const SECONDS = "switchyard_store_write_seconds";
const BATCH = "switchyard_store_write_batch_size";

/** Measures the writes of the database. */
export class WriteMetrics {
  readonly #seconds = new Histogram(WORK_SECONDS);
  readonly #batch = new Histogram(ITEM_COUNTS);
  #failures = 0;

  /** Counts a write that succeeded, or lost a race against another. */
  noteWrite(durationMs: number, commits: number): void {
    this.#seconds.observe(durationMs / 1000);
    this.#batch.observe(commits);
  }

  /** Counts a write that failed. */
  noteFailure(): void {
    this.#failures++;
  }

  /** Returns the counts since the store was opened. */
  families(): MetricFamily[] {
    return [
      {
        name: SECONDS,
        help: "Duration of durable writes of the store.",
        type: "histogram",
        samples: this.#seconds.samples(SECONDS, {}),
      },
      {
        name: BATCH,
        help: "Commits that shared one durable write.",
        type: "histogram",
        samples: this.#batch.samples(BATCH, {}),
      },
      {
        name: "switchyard_store_write_failures_total",
        help: "Writes that the store refused, such as on a full disk.",
        type: "counter",
        samples: [{ labels: {}, value: this.#failures }],
      },
    ];
  }
}
