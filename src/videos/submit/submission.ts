import type { VideoJobHandle } from "../../upstreams/video_upstream.ts";
import type { Job } from "../../store/store.ts";
import { addJob, changedTask, changeTask, postponeJob, readTask, settleJob, type TaskEntry } from "../tasks/records.ts";
import type { TaskStage, VideoTask } from "../tasks/task.ts";
import type { SubmitLimits } from "./submit_limits.ts";
import type { SubmittingStage } from "./unknown_outcome.ts";
import type { VideoParts } from "../video_parts.ts";

/** A task changes its stage twice and ends once: whoever loses more races than that has met a mistake. */
const MAX_RACES = 8;

/** A task in a stage in which a provider was called. */
export type SubmittingEntry = TaskEntry & { readonly value: { readonly stage: SubmittingStage } };

/** Whether a provider was called for the task and nothing is known of it yet. */
export function isSubmitting(entry: TaskEntry): entry is SubmittingEntry {
  return entry.value.stage.step === "submitting";
}

/**
 * Records how far a task got.
 *
 * @returns The entry that the change leaves; null when the task is not as it was read, so that the job must look again. A caller
 * may end the task after that while no vendor can have it (see cancel.ts): the next change of the entry is then refused.
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

/** Another changed the task: the job is due again at once and finds out how it stands. */
export async function lookAgain({ store }: VideoParts, job: Job): Promise<void> {
  await postponeJob(store, job, store.now(), job.attempt);
}

/**
 * Records that the vendor has the task, from when on it is polled. A worker that lost its lease, or whose task was
 * called unknown meanwhile, still knows what nobody else does: the record counts, not who writes it. Where the task
 * has ended meanwhile, the vendor is told to stop. What the store does not take is kept in memory for the next attempt.
 *
 * @param job The job to complete along; null when a caller found the task at the vendor.
 */
export async function recordSubmission(
  parts: VideoParts,
  { unrecorded }: SubmitLimits,
  start: SubmittingEntry,
  handle: VideoJobHandle,
  job: Job | null,
): Promise<void> {
  unrecorded.note(start.value, handle);
  await record(parts, start, handle, job);
  unrecorded.forget(start.value.id);
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
    let result = await store.commit(null, settleJob(recorded, job));
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

/** The task ended before the vendor confirmed it: its record gets the vendor's job, and the vendor is told to stop. */
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

/** Whether the task still is in the call that the other entry was read in. */
function isSame({ value: now }: TaskEntry, { value: before }: SubmittingEntry): boolean {
  return now.status === "pending" && now.stage.step === "submitting" && now.offers === before.offers;
}

function submissionOf({ store }: VideoParts, entry: TaskEntry, handle: VideoJobHandle) {
  const { stage, id } = entry.value;
  if (stage.step !== "submitting") throw new TypeError(`Cannot record a submission in stage "${stage.step}"`);
  const now = store.now();
  const { provider, model } = stage;
  const submitted = { step: "submitted", provider, model, job: handle, since: now } as const;
  return addJob(changeTask({}, entry, { stage: submitted }), "video_poll", id, now); // the poller knows when to poll
}
