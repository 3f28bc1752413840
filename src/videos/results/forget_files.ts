import type { JobHandler } from "../../store/job_runner.ts";
import { changeTask, readTask, settleJob } from "../tasks/records.ts";
import type { VideoParts } from "../video_parts.ts";

/**
 * The job that removes files of an ended task: what its order referred to, and copies that an earlier version made,
 * which owe this job for the end of their time. Copies of today are removed by the retention.
 */
export function forgetHandler({ store, files }: VideoParts): JobHandler {
  return async (job) => {
    const entry = await readTask(store, job.ref);
    if (!entry) return await store.commit(null, { completeJobs: [job] });
    const { inputs, mirrors, copiedAt, mirroring } = entry.value;
    const isOlder = copiedAt === undefined && !mirroring;
    for (const name of isOlder ? [...inputs, ...mirrors] : inputs) await files.remove(name);
    const change = isOlder ? { inputs: [], mirrors: [] } : { inputs: [] };
    const result = await store.commit(null, settleJob(changeTask({}, entry, change), job));
    if (result.ok) return result;
    return await store.commit(null, { postponeJobs: [{ job, dueAt: store.now(), attempt: job.attempt + 1 }] });
  };
}
