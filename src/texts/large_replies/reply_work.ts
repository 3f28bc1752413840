import { threadModule } from "../../lib/program_files.ts";
import { type ThreadWorkOptions, WorkerFailure, WorkerPool } from "../../workers/worker_pool.ts";
import { THREAD_IDLE_MS, threadStarter } from "../../workers/worker_thread.ts";
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
export function createReplyWork({ clock, log, start }: ThreadWorkOptions): ReplyWork {
  const entry = threadModule("texts/large_replies/reply_entry");
  const pool = new WorkerPool({
    name: "large replies",
    start: start ?? threadStarter({ kind: "large replies", entry, heapMegabytes: HEAP_MEGABYTES }),
    maxThreads: 1,
    maxQueued: MAX_QUEUED,
    maxQueuedPerAccount: MAX_QUEUED,
    jobMs: JOB_MS,
    idleMs: THREAD_IDLE_MS,
    clock,
    log,
  });
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
