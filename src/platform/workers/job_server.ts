import { parentPort } from "node:worker_threads";
import { markWork, startThreadHeartbeat } from "../lib/process/own_heartbeat.ts";
import type { JobMessage, JobResult } from "./worker_pool.ts";
import { errorName } from "../lib/basics/log.ts";

/** The result of a job, and the buffers in it that move to the main thread. */
export interface JobOutcome {
  readonly value: unknown;
  readonly transfer?: readonly ArrayBuffer[];
}

/** Serves the jobs of a `WorkerPool` inside a thread. An error is reported by its class only. */
export function serveJobs<Job>(run: (job: Job) => Promise<JobOutcome>): void {
  const port = parentPort!;
  startThreadHeartbeat();
  port.on("message", async ({ id, job }: JobMessage<Job>) => {
    markWork("thread job", String(id));
    try {
      const { value, transfer = [] } = await run(job);
      port.postMessage({ id, value } satisfies JobResult, [...transfer]);
    } catch (error) {
      port.postMessage({ id, failure: errorName(error) } satisfies JobResult);
    }
  });
}
