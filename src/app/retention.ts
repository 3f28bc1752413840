import type { Log } from "../lib/log.ts";
import type { Clock } from "../lib/clock.ts";
import { createJobRunner, type JobHandler, type JobRunner } from "../store/job_runner.ts";
import type { Store } from "../store/store.ts";

/** One bounded step that removes what was kept for long enough. Gives whether there may be more to remove. */
export type Sweep = () => Promise<boolean>;

/** What the retention is kept with. */
export interface RetentionParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly sweeps: readonly Sweep[];
}

const JOB = "retention";
/** There is one job for all sweeps. */
const REF = "all";
/** Between two passes when there is nothing more to remove. */
const PASS_EVERY_MS = 600_000;
/** Between two steps of a pass, so that a large one leaves room for requests. */
const STEP_EVERY_MS = 50;

/** Until a job that could not be added is tried again. */
const ADD_AGAIN_MS = 60_000;

/** Begins to remove what was kept for long enough: at once, every ten minutes, and after a restart. */
export function startRetention(parts: RetentionParts): JobRunner {
  const { store, clock, log } = parts;
  let stopTimer = () => {};
  async function addJob(): Promise<void> {
    try {
      // Refused as a duplicate where an earlier process left it.
      await store.commit(null, { addJobs: [{ kind: JOB, ref: REF, dueAt: store.now() }] });
    } catch (error) {
      log.warn("retention_not_started", { reason: error instanceof Error ? error.name : typeof error });
      stopTimer = clock.after(ADD_AGAIN_MS, addJob);
    }
  }
  const added = addJob();
  const handlers = { [JOB]: retentionHandler(parts) };
  const runner = createJobRunner({ store, clock, log, handlers, concurrency: { [JOB]: 1 } });
  return {
    get running() {
      return runner.running;
    },
    async drain(graceMs) {
      await added;
      stopTimer();
      await runner.drain(graceMs);
    },
  };
}

/** The job that takes one step of each sweep, and comes back soon while there is more to remove. */
export function retentionHandler({ store, sweeps }: Pick<RetentionParts, "store" | "sweeps">): JobHandler {
  return async (job) => {
    const more = await Promise.all(sweeps.map((sweep) => sweep()));
    const waitMs = more.includes(true) ? STEP_EVERY_MS : PASS_EVERY_MS;
    return await store.commit(null, { postponeJobs: [{ job, dueAt: store.now() + waitMs, attempt: 0 }] });
  };
}
