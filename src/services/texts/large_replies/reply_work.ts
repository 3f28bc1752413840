import { oneThreadPool, type ThreadWorkOptions, WorkerFailure } from "../../../platform/workers/worker_pool.ts";
import type { ReplyJob, ReplyJobOutcome, ReplyJobResults } from "./reply_jobs.ts";

/** Works on large replies in a thread. */
export interface ReplyWork {
  /** Does a job. Its buffers move. Never rejects. */
  run(job: ReplyJob, accountId: string): Promise<ReplyJobOutcome>;
  /** Ends the thread. */
  close(): void;
}

const JOB_MS = 60_000;
/** The vendor has done its work, so every reply is accepted. The memory budget limits their bytes. */
const MAX_QUEUED = 1_000;
const HEAP_MEGABYTES = 1_024;

/** Creates the work, whose thread starts with the first large reply. */
export function createReplyWork(options: ThreadWorkOptions): ReplyWork {
  const pool = oneThreadPool({
    kind: "large replies",
    module: "services/texts/large_replies/reply_entry",
    heapMegabytes: HEAP_MEGABYTES,
    maxQueued: MAX_QUEUED,
    jobMs: JOB_MS,
  }, options);
  return {
    async run(job, accountId) {
      try {
        const result = await pool.run(job, { accountId, isRequired: true }, job.pieces);
        return { result: result as ReplyJobResults[ReplyJob["name"]] };
      } catch (error) {
        if (!(error instanceof WorkerFailure)) throw error;
        return error.kind === "failed" ? { unreadable: error.message } : { unavailable: error.kind };
      }
    },
    close: () => pool.close(),
  };
}
