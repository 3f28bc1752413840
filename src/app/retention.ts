import { holdWork } from "../lib/held.ts";
import type { Log } from "../lib/log.ts";
import type { Clock } from "../lib/clock.ts";
import { createJobRunner, type JobHandler, type JobRunner } from "../store/job_runner.ts";
import type { Store } from "../store/store.ts";
import { laterBy } from "../store/store_time.ts";

/** Removes a bounded number of expired records. Gives whether more may be left. */
export type Sweep = () => Promise<boolean>;

/** Options of {@linkcode startRetention}. */
export interface RetentionOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly sweeps: readonly Sweep[];
}

const JOB = "retention";
/** One job runs all sweeps. */
const REF = "all";
/** Time between two passes if nothing is left to remove. */
const PASS_EVERY_MS = 600_000;
/** Time between two steps of a pass, so that a long pass leaves room for requests. */
const STEP_EVERY_MS = 50;

/** Time until the job is added again after a failure. */
const ADD_AGAIN_MS = 60_000;

/** Starts the removal of expired records: at once, every ten minutes, and after a restart. */
export function startRetention(parts: RetentionOptions): JobRunner {
  const { store, clock, log } = parts;
  let stopTimer = () => {};
  async function addJob(): Promise<void> {
    try {
      // Refused as a duplicate if an earlier process added it.
      await store.commit(null, { addJobs: [{ kind: JOB, ref: REF, dueAt: store.now() }] });
    } catch (error) {
      log.warn("retention_not_started", { reason: error instanceof Error ? error.name : typeof error });
      stopTimer = clock.after(ADD_AGAIN_MS, () => holdWork(addJob()));
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

/** The handler of the job. It runs one step of each sweep, and is due again soon if more is left. */
export function retentionHandler({ store, sweeps }: Pick<RetentionOptions, "store" | "sweeps">): JobHandler {
  return async (job) => {
    const more = await Promise.all(sweeps.map((sweep) => sweep()));
    const waitMs = more.includes(true) ? STEP_EVERY_MS : PASS_EVERY_MS;
    return await store.commit(null, { postponeJobs: [{ job, dueAt: laterBy(store.now(), waitMs), attempt: 0 }] });
  };
}
