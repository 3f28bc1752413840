import type { VideoJobHandle } from "../../../vendors/upstreams/contract/video_upstream.ts";
import type { Job } from "../../../platform/store/store.ts";
import {
  addJob,
  changedTask,
  changeTask,
  completeJob,
  postponeJob,
  readTask,
  type TaskEntry,
} from "../tasks/records.ts";
import type { TaskStage, VideoTask } from "../tasks/task.ts";
import type { SubmitLimits } from "./submit_limits.ts";
import type { SubmittingStage } from "../tasks/unknown_outcome.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/** Maximum number of conflicting commits. A task changes its stage twice and ends once; more conflicts mean a bug. */
const MAX_RACES = 8;

/** A task in the stage `submitting`. */
export type SubmittingEntry = TaskEntry & { readonly value: { readonly stage: SubmittingStage } };

/** Whether a provider was called for the task and its response is not recorded yet. */
export function isSubmitting(entry: TaskEntry): entry is SubmittingEntry {
  return entry.value.stage.step === "submitting";
}

/**
 * Records the stage of a task.
 *
 * @returns The changed entry; null if the task changed since it was read, so the job must read it again. A caller may
 * then still end the task while no vendor can have it (see cancel.ts); the next change of the entry then fails.
 */
export async function recordStage(
  { store }: VideoParts,
  entry: TaskEntry,
  stage: TaskStage,
  more: Pick<VideoTask, "offers" | "firstOfferedAt"> = {},
): Promise<TaskEntry | null> {
  const change = { stage, ...more };
  const commit = changeTask({}, entry, change);
  return changedTask(entry, change, commit, await store.commit(null, commit));
}

/** Another process changed the task: the job is due again immediately and reads the new state. */
export async function retryNow({ store }: VideoParts, job: Job): Promise<void> {
  await postponeJob(store, job, store.now(), job.attempt);
}

/**
 * Records that the vendor has the task; polling starts from then. A worker records this even if it lost its lease or
 * the outcome was marked unknown meanwhile, because only that worker knows the vendor's job. If the task has ended
 * meanwhile, the vendor's job is cancelled. A job that the store does not accept is kept in memory for the next
 * attempt.
 *
 * @param job The job to complete in the same commit; null if a caller found the task at the vendor.
 */
export async function recordSubmission(
  parts: VideoParts,
  { unrecorded }: SubmitLimits,
  start: SubmittingEntry,
  handle: VideoJobHandle,
  job: Job | null,
): Promise<void> {
  unrecorded.set(start.value, handle);
  await record(parts, start, handle, job);
  unrecorded.delete(start.value.id);
}

async function record(
  parts: VideoParts,
  start: SubmittingEntry,
  handle: VideoJobHandle,
  job: Job | null,
): Promise<void> {
  const { store, log } = parts;
  const { provider } = start.value.stage;
  let entry: TaskEntry | null = start;
  let reason = "";
  for (let race = 0; race < MAX_RACES && entry !== null && isSame(entry, start); race++) {
    const recorded = submissionOf(parts, entry, handle);
    let result = await store.commit(null, completeJob(recorded, job));
    if (!result.ok && result.why === "fenced") result = await store.commit(null, recorded);
    if (result.ok) return log.info("video_submitted", { ref: entry.value.id, provider, model: entry.value.model });
    reason = result.why;
    entry = await readTask(store, start.value.id);
  }
  if (entry?.value.stage.step === "submitted" && entry.value.stage.job.id === handle.id) {
    if (job !== null) await store.commit(null, { completeJobs: [job] });
    return;
  }
  log.error("video_submitted_unrecorded", { ref: start.value.id, provider, reason });
  if (entry !== null && entry.value.status !== "pending") await stopLate(parts, entry, start.value.stage, handle);
}

/** Handles a confirmation after the task's end: adds the vendor's job to the record and cancels it. */
async function stopLate(
  { store, upstreams, log }: VideoParts,
  entry: TaskEntry,
  { provider, model }: SubmittingStage,
  handle: VideoJobHandle,
): Promise<void> {
  const now = store.now();
  const { id } = entry.value;
  const stage = { step: "submitted", provider, model, job: handle, since: now } as const;
  const canStop = Boolean(upstreams.get(provider)?.cancel);
  const late = changeTask({}, entry, { stage });
  const { ok } = await store.commit(null, canStop ? addJob(late, "video_stop", id, now) : late);
  if (!ok || !canStop) log.warn("video_left_running", { ref: id, provider });
}

/** Whether the task is still in the same call as the other entry. */
function isSame({ value: now }: TaskEntry, { value: before }: SubmittingEntry): boolean {
  return now.status === "pending" && now.stage.step === "submitting" && now.offers === before.offers;
}

function submissionOf({ store }: VideoParts, entry: TaskEntry, handle: VideoJobHandle) {
  const { stage, id } = entry.value;
  if (stage.step !== "submitting") throw new TypeError(`Cannot record a submitted job in stage "${stage.step}"`);
  const now = store.now();
  const { provider, model } = stage;
  const submitted = { step: "submitted", provider, model, job: handle, since: now } as const;
  return addJob(changeTask({}, entry, { stage: submitted }), "video_poll", id, now); // the poller delays the first poll
}
