import type { ReplyJob, ReplyJobOutcome, ReplyJobResults } from "./reply_jobs.ts";
import { errorName } from "../../../platform/lib/basics/log.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const replyJobModule = new Late(() => import("./reply_job.ts"));

/** Does a job of an account. Its buffers move. Never rejects. */
export type ReplyRunner = (job: ReplyJob, accountId: string) => Promise<ReplyJobOutcome>;

let runner: ReplyRunner = runHere;

/**
 * Makes the work on large replies run outside this thread, where it would delay other callers.
 *
 * @returns A function that makes it run in this thread again.
 */
export function useReplyRunner(other: ReplyRunner): () => void {
  runner = other;
  return () => {
    if (runner === other) runner = runHere;
  };
}

/** Does a job, in this thread or in the one for it. Its buffers move. Never rejects. */
export async function runJob<J extends ReplyJob>(
  job: J,
  accountId: string,
): Promise<ReplyJobOutcome<ReplyJobResults[J["name"]]>> {
  return await runner(job, accountId) as ReplyJobOutcome<ReplyJobResults[J["name"]]>;
}

async function runHere(job: ReplyJob): Promise<ReplyJobOutcome> {
  const { runReplyJob } = await replyJobModule.load();
  try {
    return { result: await runReplyJob(job) };
  } catch (error) {
    return { unreadable: errorName(error) };
  }
}
