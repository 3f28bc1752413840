import type { Log } from "../../../platform/lib/basics/log.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { JobHandler, JobRunner } from "../../../platform/store/job_runner.ts";
import type { JobStore } from "../../../platform/store/store.ts";
import { laterBy } from "../../../platform/store/store_time.ts";
import { startPeriodicJob } from "./periodic_job.ts";

/** Removes a bounded number of expired records. Gives whether more may be left. */
export type Sweep = () => Promise<boolean>;

/** Options of {@linkcode startRetention}. */
export interface RetentionOptions {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly sweeps: readonly Sweep[];
}

/** Time between two passes if nothing is left to remove. */
const PASS_EVERY_MS = 600_000;
/** Time between two steps of a pass, so that a long pass leaves room for requests. */
const STEP_EVERY_MS = 50;

/** Starts the removal of expired records: at once in the life of the store, and every ten minutes after that. */
export function startRetention(parts: RetentionOptions): JobRunner {
  return startPeriodicJob(parts, { kind: "retention", firstAfterMs: 0, handler: retentionHandler(parts) });
}

/** The handler of the job. It runs one step of each sweep, and is due again soon if more is left. */
export function retentionHandler({ store, sweeps }: Pick<RetentionOptions, "store" | "sweeps">): JobHandler {
  return async (job) => {
    const more = await Promise.all(sweeps.map((sweep) => sweep()));
    const waitMs = more.includes(true) ? STEP_EVERY_MS : PASS_EVERY_MS;
    return await store.commit(null, { postponeJobs: [{ job, dueAt: laterBy(store.now(), waitMs), attempt: 0 }] });
  };
}
