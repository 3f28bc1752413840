import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { sleep } from "../../../platform/lib/basics/clock.ts";
import { gatewayErrorFor, UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type {
  VideoJobHandle,
  VideoProgress,
  VideoUpstream,
} from "../../../vendors/upstreams/contract/video_upstream.ts";
import { endOf } from "../polling/poll.ts";
import type { Poller } from "../polling/poller.ts";
import { readTask, type TaskEntry } from "../tasks/records.ts";
import { taskNotFound, videoError } from "../tasks/video_errors.ts";
import { searchFor } from "./search.ts";
import type { SubmitLimits } from "./submit_limits.ts";
import { isSubmitting, recordSubmission, type SubmittingEntry } from "./submission.ts";
import type { TaskEnd, VideoTask } from "../tasks/task.ts";
import { endTask } from "../tasks/terminal.ts";
import { cancelledUnknownEnd, doubtEndsAt, isOutcomeUnknown } from "../tasks/unknown_outcome.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/** How long a cancel waits for a create call in progress. */
const WAIT = { polls: 50, eachMs: 100 };
/** Maximum number of conflicting commits. A task changes its stage twice and ends once; more conflicts mean a bug. */
const MAX_ATTEMPTS = 8;

/** Dependencies of a cancel other than the common parts. */
export interface CancelTools {
  readonly limits: SubmitLimits;
  readonly poller: Pick<Poller, "holdForCancel">;
}

/**
 * Cancels a task for its caller. A task that no vendor can have ends immediately; otherwise the vendor's response
 * decides. If a cancel and another end compete, the first commit wins.
 *
 * @returns The cancelled task.
 * @throws {GatewayError} `not_found`; `cancel_failed` if the task has ended; `cancel_not_supported` if the vendor
 * cannot cancel it, or no longer can; or the vendor's failure. Source: docs/api/videos.md#cancel.
 */
export async function cancelVideo(
  parts: VideoParts,
  { limits, poller }: CancelTools,
  keyId: string,
  id: string,
): Promise<VideoTask> {
  let entry = await settledStage(parts, keyId, id);
  // Held between the attempts too: some vendors report a cancelled job as failed, and a poll could record that.
  using _held = poller.holdForCancel(id);
  let end: TaskEnd | null = null;
  // A vendor reports a second cancel of the same job as too late, so it gets one.
  let endAtVendor: TaskEnd | null = null;
  for (let race = 0; race < MAX_ATTEMPTS; race++) {
    if (race > 0) entry = await settledStage(parts, keyId, id);
    const { stage, status } = entry.value;
    // The polling job may have read the cancellation from the vendor before this call recorded it.
    if (status === "cancelled" && end?.status === "cancelled" && stage.step === "submitted") return entry.value;
    if (status !== "pending") throw hasEnded(status);
    if (stage.step === "submitted") end = endAtVendor ??= await cancelAtVendor(parts, stage.provider, stage.job);
    else end = isSubmitting(entry) ? await endInDoubt(parts, limits, entry) : CANCELLED;
    if (end === null) continue;
    const ended = await endTask(parts, entry, end, null);
    if (ended === null) continue;
    if (ended.status === "cancelled") return ended;
    throw hasEnded(ended.status);
  }
  throw new GatewayError("internal_error", "Cannot cancel the task: too many concurrent changes");
}

const CANCELLED: TaskEnd = { status: "cancelled" };

/** Waits until no create call is in progress; after five seconds, returns the task unchanged. */
async function settledStage(
  { store, clock, settings }: VideoParts,
  keyId: string,
  id: string,
): Promise<TaskEntry> {
  for (let poll = 0;; poll++) {
    const entry = await readTask(store, id);
    if (!entry || entry.value.keyId !== keyId) throw taskNotFound();
    const { status, stage } = entry.value;
    const isUnderWay = status === "pending" && stage.step === "submitting" &&
      !isOutcomeUnknown(stage, store.now(), settings);
    if (!isUnderWay || poll === WAIT.polls) return entry;
    await sleep(clock, WAIT.eachMs);
  }
}

/**
 * Returns the end of a task whose create call has an unknown outcome. A vendor with a list is searched. Returns null if
 * the job was found, or confirmed without being recorded: then the vendor can cancel it.
 */
async function endInDoubt(
  parts: VideoParts,
  limits: SubmitLimits,
  entry: SubmittingEntry,
): Promise<TaskEnd | null> {
  const { store, settings, upstreams } = parts;
  const { stage } = entry.value;
  const confirmed = limits.unrecorded.get(entry.value);
  if (confirmed !== null) {
    await recordSubmission(parts, limits, entry, confirmed, null);
    return null;
  }
  if (!isOutcomeUnknown(stage, store.now(), settings)) {
    throw cannot("it is being submitted to a provider; try again later");
  }
  if (!upstreams.get(stage.provider)?.find) return cancelledUnknownEnd(settings);
  const result = await searchFor(parts, limits, entry);
  if (result === "absent" && store.now() >= doubtEndsAt(stage, settings)) return CANCELLED;
  if (typeof result !== "object") throw cannot("the provider has not confirmed it yet; try again later");
  await recordSubmission(parts, limits, entry, result, null);
  return null;
}

/**
 * Returns the end that the vendor's response implies. If the vendor reports that the job had ended, its status is
 * polled once.
 */
async function cancelAtVendor(parts: VideoParts, provider: string, job: VideoJobHandle): Promise<TaskEnd> {
  const upstream = parts.upstreams.get(provider);
  if (!upstream?.cancel) throw cannot("the provider does not support cancellation");
  try {
    const outcome = await upstream.cancel(job);
    if (outcome === "cancelled" || outcome === "requested") return CANCELLED;
    const progress = await progressAfter(upstream, job);
    if (progress.status !== "pending") return endOf(parts.egress, progress);
  } catch (error) {
    throw error instanceof UpstreamFailure ? gatewayErrorFor(error) : error;
  }
  throw cannot("the provider has already started it");
}

async function progressAfter(upstream: VideoUpstream, job: VideoJobHandle): Promise<VideoProgress> {
  try {
    return await upstream.poll(job);
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return { status: "pending", isRunning: null }; // the polling job records how it ended
  }
}

function hasEnded(status: string): GatewayError {
  return videoError("cancel_failed", `Cannot cancel the task: it is ${status}`);
}

function cannot(why: string): GatewayError {
  return videoError("cancel_not_supported", `Cannot cancel the task: ${why}`);
}
