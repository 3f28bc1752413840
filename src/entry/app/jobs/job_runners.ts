import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { holdState } from "../../../platform/lib/basics/held.ts";
import { errorName, type Log } from "../../../platform/lib/basics/log.ts";
import { DESCRIPTOR_RETRY_SECONDS } from "../../../platform/lib/process/late.ts";
import type { JobRunner } from "../../../platform/store/job_runner.ts";

/** Jobs whose code is loaded after the start. */
export interface LateJobs<T> {
  /** For the log. */
  readonly name: string;
  /** Loads the code. Repeated until it succeeds: too few file descriptors may be free just after the start. */
  readonly load: () => Promise<T>;
  readonly start: (code: T) => JobRunner;
}

/** Starts jobs whose code is loaded after the start. The runner runs none until then. */
export function startedRunner<T>(
  { name, load, start }: LateJobs<T>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): JobRunner {
  let isDraining = false;
  let runner: JobRunner | null = null;
  let endPause = () => {};

  async function run(): Promise<void> {
    // Ends when the code is loaded, or when the runner is drained.
    while (!isDraining) {
      try {
        const code = await load();
        if (!isDraining) runner = start(code);
        return;
      } catch (error) {
        log.error("jobs_not_started", { jobKind: name, reason: errorName(error) });
      }
      await new Promise<void>((resolve) => {
        const cancel = clock.after(DESCRIPTOR_RETRY_SECONDS * 1_000, resolve);
        endPause = () => {
          cancel();
          resolve();
        };
      });
    }
  }

  const running = run();
  holdState(running, "the start of jobs");
  return {
    get running() {
      return runner?.running ?? 0;
    },
    async drain(graceMs) {
      isDraining = true;
      endPause();
      await running;
      await runner?.drain(graceMs);
    },
  };
}

/** Combines several runners into one. They are drained concurrently. */
export function joinRunners(runners: readonly JobRunner[]): JobRunner {
  return {
    get running() {
      return runners.reduce((sum, { running }) => sum + running, 0);
    },
    async drain(graceMs) {
      await Promise.all(runners.map((runner) => runner.drain(graceMs)));
    },
  };
}
