import type { Job } from "../../../platform/store/store.ts";
import { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type { VideoJobHandle } from "../../../vendors/upstreams/contract/video_upstream.ts";
import { changeTask, postponeSubmit } from "../tasks/records.ts";
import { endOrRetry, failTask } from "./submit_failure.ts";
import type { SubmitLimits } from "./submit_limits.ts";
import { recordStage, recordSubmission, retryNow, type SubmittingEntry } from "./submission.ts";
import { doubtEndsAt, unknownEnd } from "../tasks/unknown_outcome.ts";
import { isHandleStorable } from "../create/task_size.ts";
import { searchOrderOf } from "./vendor_order.ts";
import type { VideoParts } from "../tasks/video_parts.ts";
import { laterBy, type StoreTime } from "../../../platform/store/store_time.ts";

/** How long a task whose create calls get lost is offered again. */
const MAX_SUBMIT_PERIOD_MS = 3_600_000;
/** Minimum interval between two searches for one task. */
const MIN_SEARCH_INTERVAL_MS = 5_000;
const MAX_SEARCH_INTERVAL_MS = 300_000;
/**
 * Tolerance for a vendor's clock that is behind. The doubt period is added, because `since` may have been moved
 * forward.
 */
const CLOCK_SKEW_MS = 60_000;

/**
 * Result of a search in a vendor's list. `unknown`: the list was not available. `busy`: the maximum number of searches
 * is running.
 */
export type SearchResult = VideoJobHandle | "absent" | "unknown" | "busy";

/**
 * Continues a task whose create call has an unknown outcome. A vendor with a list is searched until the task is found
 * or definitely absent: not listed after the longest possible create. With other vendors, the task fails when the doubt
 * period ends. Until then no other provider gets the task.
 */
export async function resolveUnknownOutcome(
  parts: VideoParts,
  limits: SubmitLimits,
  entry: SubmittingEntry,
  job: Job,
): Promise<void> {
  const { store, upstreams } = parts;
  const { stage, account } = entry.value;
  const confirmed = limits.unrecorded.get(entry.value);
  if (confirmed !== null) return await recordSubmission(parts, limits, entry, confirmed, job);
  const hasList = Boolean(upstreams.get(stage.provider)?.find);
  const result = hasList ? await searchFor(parts, limits, entry) : "unknown";
  if (typeof result === "object") return await recordSubmission(parts, limits, entry, result, job);
  const now = store.now();
  const isOver = now >= doubtEndsAt(stage, parts.settings);
  if (result === "busy") {
    const delayMs = limits.searches.retryDelayMs(stage.provider, account);
    return await keepInDoubt(parts, entry, job, { dueAt: laterBy(now, delayMs), attempt: job.attempt });
  }
  if (!hasList && isOver) return await endOrRetry(parts, entry, job, unknownEnd(stage, parts.settings));
  if (result === "absent" && isOver) return await offerAgain(parts, entry, job);
  parts.log.error("video_submission_unknown", { ref: entry.value.id, provider: stage.provider, attempt: job.attempt });
  const dueAt = hasList
    ? nextSearchAt(parts, entry)
    : laterBy(now, Math.min(doubtEndsAt(stage, parts.settings) - now, parts.settings.doubtMs));
  await keepInDoubt(parts, entry, job, { dueAt, attempt: job.attempt + 1 });
}

/** Searches a vendor's list for a task, once. */
export async function searchFor(
  { upstreams, log, settings }: VideoParts,
  { searches }: SubmitLimits,
  { value: task }: SubmittingEntry,
): Promise<SearchResult> {
  const { provider, since } = task.stage;
  const find = upstreams.get(provider)?.find;
  if (!find) return "unknown";
  using permit = searches.acquire(provider, task.account);
  if (permit === null) return "busy";
  try {
    const found = await find(searchOrderOf(task, task.stage), since - settings.doubtMs - CLOCK_SKEW_MS);
    if (found === null) return "absent";
    return isHandleStorable(found) ? found : "unknown";
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    log.warn("video_search_failed", { ref: task.id, provider, code: error.kind });
    return "unknown";
  }
}

function nextSearchAt({ store, settings }: VideoParts, { value: { stage } }: SubmittingEntry): StoreTime {
  const now = store.now();
  const endsAt = doubtEndsAt(stage, settings);
  const waitMs = Math.min(Math.max((now - stage.since) / 2, MIN_SEARCH_INTERVAL_MS), MAX_SEARCH_INTERVAL_MS);
  return laterBy(now, now < endsAt ? Math.min(waitMs, endsAt - now) : waitMs);
}

/** Reschedules the job. The first time, it also records that the call ended, so that a caller may cancel the task. */
async function keepInDoubt(
  parts: VideoParts,
  entry: SubmittingEntry,
  job: Job,
  again: { readonly dueAt: StoreTime; readonly attempt: number },
): Promise<void> {
  const { store } = parts;
  const { stage, deadlineAt } = entry.value;
  const now = store.now();
  // If the clock moved backwards, a later `since` would extend the doubt period.
  const isMarked = stage.unknownSince !== undefined && stage.since <= now;
  const mark = { ...stage, since: Math.min(stage.since, now), unknownSince: now };
  const marked = isMarked ? {} : changeTask({}, entry, { stage: mark });
  const postponed = postponeSubmit(marked, job, laterBy(now, Math.min(again.dueAt, deadlineAt) - now), again.attempt);
  const { ok } = await store.commit(null, postponed);
  if (!ok && !isMarked) await retryNow(parts, job);
}

/** The vendor never had the task: it is offered again, or fails after the maximum period. */
async function offerAgain(parts: VideoParts, entry: SubmittingEntry, job: Job): Promise<void> {
  const { id, createdAt, firstOfferedAt, stage: { provider } } = entry.value;
  parts.log.error("video_submission_lost", { ref: id, provider, attempt: job.attempt });
  if (parts.store.now() - (firstOfferedAt ?? createdAt) >= MAX_SUBMIT_PERIOD_MS) {
    return await failTask(parts, entry, job, {
      code: "upstream_error",
      message: `Provider "${provider}" did not accept the task`,
    });
  }
  await recordStage(parts, entry, { step: "waiting" });
  await retryNow(parts, job);
}
