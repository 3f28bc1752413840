import type { JobRunner } from "../../../platform/store/job_runner.ts";

/** A runner that is still being started. */
export function startedRunner(starting: Promise<JobRunner>): JobRunner {
  return { running: 0, drain: async (graceMs) => await (await starting).drain(graceMs) };
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
