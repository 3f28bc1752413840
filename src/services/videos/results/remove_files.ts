import type { JobHandler } from "../../../platform/store/job_runner.ts";
import { changeTask, completeJob, readTask } from "../tasks/records.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/**
 * Creates the handler of jobs that remove files of an ended task: the media of its order, and copies made by an earlier
 * version, which scheduled this job. Retention removes current copies.
 */
export function forgetHandler({ store, files }: VideoParts): JobHandler {
  return async (job) => {
    const entry = await readTask(store, job.ref);
    if (!entry) return await store.commit(null, { completeJobs: [job] });
    const { inputs, mirrors, copiedAt, mirroring } = entry.value;
    const isOlder = copiedAt === undefined && !mirroring;
    for (const name of isOlder ? [...inputs, ...mirrors] : inputs) await files.remove(name);
    const change = isOlder ? { inputs: [], mirrors: [] } : { inputs: [] };
    const result = await store.commit(null, completeJob(changeTask({}, entry, change), job));
    if (result.ok) return result;
    return await store.commit(null, { postponeJobs: [{ job, dueAt: store.now(), attempt: job.attempt + 1 }] });
  };
}
