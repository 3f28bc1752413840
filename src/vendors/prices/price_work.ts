import { oneThreadPool, type ThreadWorkOptions, WorkerFailure } from "../../platform/workers/worker_pool.ts";
import type { PriceJob, PriceJobResult } from "./price_job.ts";

/** Reads price lists in a thread: a list of some megabytes takes longer than requests may wait. */
export interface PriceWork {
  /** Compares a list with the prices in use. A list that the thread cannot read is refused. */
  run(job: PriceJob): Promise<PriceJobResult>;
  /** Ends the thread. */
  close(): void;
}

const JOB_MS = 60_000;
const MAX_QUEUED = 4;
const HEAP_MEGABYTES = 512;
/** Between two readings no memory is held. */
const IDLE_MS = 1_000;
const QUEUE = "";

/** Creates the work; its thread starts with the first list. */
export function createPriceWork(options: ThreadWorkOptions): PriceWork {
  const pool = oneThreadPool({
    kind: "prices",
    module: "vendors/prices/price_entry",
    heapMegabytes: HEAP_MEGABYTES,
    maxQueued: MAX_QUEUED,
    jobMs: JOB_MS,
    idleMs: IDLE_MS,
  }, options);
  return {
    async run(job) {
      try {
        return await pool.run(job, { accountId: QUEUE }, [job.bytes]) as PriceJobResult;
      } catch (error) {
        if (!(error instanceof WorkerFailure)) throw error;
        return { type: "refused", problems: [`the list could not be read (${error.kind})`] };
      }
    },
    close: () => pool.close(),
  };
}
