/** The entry module of the thread of `createReplyWork`. */
import { serveJobs } from "../../../platform/workers/job_server.ts";
import { guardThread } from "../../../platform/workers/thread_guard.ts";
import { runReplyJob } from "./reply_job.ts";
import type { ReplyJob } from "./reply_jobs.ts";

guardThread();
serveJobs(async (job: ReplyJob) => {
  const value = await runReplyJob(job);
  return { value, transfer: value.pieces };
});
