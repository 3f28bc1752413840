import type { MetricFamily } from "../lib/metric_family.ts";

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
