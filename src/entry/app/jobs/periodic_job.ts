import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { holdWork } from "../../../platform/lib/basics/held.ts";
import { errorName, type Log } from "../../../platform/lib/basics/log.ts";
import { createJobRunner, type JobHandler, type JobRunner } from "../../../platform/store/job_runner.ts";
import type { JobStore } from "../../../platform/store/store.ts";
import { laterBy } from "../../../platform/store/store_time.ts";

/** The dependencies of {@linkcode startPeriodicJob}. */
export interface PeriodicJobParts {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** Work that is done again and again, by one process on the store at a time. */
export interface PeriodicJob {
  readonly kind: string;
  /** When it is due first in the life of the store. */
  readonly firstAfterMs: number;
  /** Postpones the job to its next time. */
  readonly handler: JobHandler;
}

/** The only job of its kind. */
const REF = "all";
/** Time until the job is added again after a failure. */
const ADD_AGAIN_MS = 60_000;

/** Starts a job that never ends. A process that is killed leaves it to the next one. */
export function startPeriodicJob(parts: PeriodicJobParts, { kind, firstAfterMs, handler }: PeriodicJob): JobRunner {
  const { store, clock, log } = parts;
  let stopTimer = () => {};
  async function addJob(): Promise<void> {
    try {
      // Refused as a duplicate if an earlier process added it.
      await store.commit(null, { addJobs: [{ kind, ref: REF, dueAt: laterBy(store.now(), firstAfterMs) }] });
    } catch (error) {
      log.warn(`${kind}_not_started`, { reason: errorName(error) });
      stopTimer = clock.after(ADD_AGAIN_MS, () => holdWork(addJob()));
    }
  }
  const added = addJob();
  const runner = createJobRunner({ store, clock, log, handlers: { [kind]: handler }, concurrency: { [kind]: 1 } });
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
