import { Histogram, ITEM_COUNTS, WORK_SECONDS } from "../lib/collections/histogram.ts";
import type { MetricFamily } from "../lib/basics/metric_family.ts";

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

/** Further jobs are not counted, since each costs a read. */
export const MAX_COUNTED_JOBS = 10_000;

/** The open jobs of one kind. */
export interface JobCount {
  readonly count: number;
  /** Unix milliseconds. */
  readonly firstDueAt: number;
}

/**
 * The numbers of jobs by kind, and the time for which the oldest due one has waited.
 *
 * @param all The kinds.
 * @param now Unix milliseconds.
 */
export function jobFamilies(all: readonly (readonly [kind: string, jobs: JobCount])[], now: number): MetricFamily[] {
  return [
    {
      name: "switchyard_jobs",
      help: `Jobs that wait, are due or are under way, by kind. At most ${MAX_COUNTED_JOBS} are counted.`,
      type: "gauge",
      samples: all.map(([kind, { count }]) => ({ labels: { kind }, value: count })),
    },
    {
      name: "switchyard_oldest_job_seconds",
      help: "Time for which the oldest job has been due, by kind; zero if none is due.",
      type: "gauge",
      samples: all.map(([kind, { firstDueAt }]) => ({
        labels: { kind },
        value: Math.max(0, now - firstDueAt) / 1000,
      })),
    },
  ];
}

/** How far the database's clock is ahead of this machine's. */
export function clockFamily(aheadMs: number): MetricFamily {
  return {
    name: "switchyard_store_clock_ahead_seconds",
    help: "How far the clock of the database is ahead of that of this machine; below zero if it is behind.",
    type: "gauge",
    samples: [{ labels: {}, value: Math.round(aheadMs) / 1000 }],
  };
}
