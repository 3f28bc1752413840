import { writeMoney } from "../../../platform/lib/basics/money.ts";
import type { Job } from "../../../platform/store/store.ts";
import { extraMirrorNamesOf, mirrorNamesOf } from "./mirror_names.ts";
import { payFor } from "./payment.ts";
import { addJob, changeTask, completeJob, type TaskEntry } from "./records.ts";
import type { TaskEnd, VideoTask } from "./task.ts";
import { taskObjectOf } from "./task_object.ts";
import type { VideoParts } from "./video_parts.ts";

/**
 * Ends a pending task in one commit: its status, its ledger changes, the completed job, the follow-up jobs and the
 * additions of `onTerminal`. Does nothing if the task changed since it was read.
 *
 * @param job The claimed job to complete in the same commit; null if a caller ends the task.
 * @returns The ended task; null if the task changed first or another process has the job.
 */
export async function endTask(
  parts: VideoParts,
  entry: TaskEntry,
  end: TaskEnd,
  job: Job | null,
): Promise<VideoTask | null> {
  const { store, log, onTerminal } = parts;
  const now = store.now();
  const payment = await payFor(parts, entry.value, end, now);
  if (payment === null) return null;
  const { commit: paid, usage } = payment;
  const change = { ...changeOf(entry.value, end), usage, updatedAt: now };
  const task: VideoTask = { ...entry.value, ...change };
  let commit = completeJob(changeTask(paid, entry, change), job);
  if (task.mirroring) commit = addJob(commit, "video_mirror", task.id, now);
  else if (task.inputs.length > 0) commit = addJob(commit, "video_forget", task.id, now);
  if (end.status === "expired" && end.stopsVendor) commit = addJob(commit, "video_stop", task.id, now);
  commit = onTerminal(commit, {
    taskId: task.id,
    account: task.account,
    status: end.status,
    callbackUrl: task.callbackUrl,
    endedAt: now,
    task: taskObjectOf(task, now, parts),
  });
  let isMade = false;
  try {
    isMade = (await store.commit(null, commit)).ok;
  } finally {
    payment.conclude(isMade);
  }
  if (!isMade) return null;
  log.info("video_ended", {
    ref: task.id,
    accountId: task.account,
    model: task.model,
    provider: task.stage.step === "waiting" ? undefined : task.stage.provider,
    state: task.status,
    code: task.error?.code,
    durationMs: now - task.createdAt,
    cost: usage ? writeMoney(usage.cost) : undefined,
  });
  return task;
}

function changeOf(task: VideoTask, end: TaskEnd): Partial<VideoTask> {
  const common = { status: end.status, order: null };
  if (end.status === "failed") return { ...common, error: { ...end.error, message: end.error.message.slice(0, 500) } };
  if (end.status !== "completed") return common;
  const { results, extras = [] } = end;
  const completed = { ...common, results, mirrors: mirrorNamesOf(task.id, results), mirroring: true };
  return extras.length === 0 ? completed : { ...completed, extras, extraMirrors: extraMirrorNamesOf(task.id, extras) };
}
