import type { Job } from "../../../platform/store/store.ts";
import { EgressError } from "../../../platform/net/egress_error.ts";
import { checkTargetUrl, type EgressPolicy } from "../../../platform/net/target.ts";
import type { VideoProgress, VideoResult } from "../../../vendors/upstreams/contract/video_upstream.ts";
import { endOverdue } from "../tasks/expire.ts";
import { recordProgress } from "./progress_record.ts";
import { readTask } from "../tasks/records.ts";
import { limitAddresses } from "../create/task_size.ts";
import type { TaskEnd } from "../tasks/task.ts";
import { endTask } from "../tasks/terminal.ts";
import type { VideoParts } from "../tasks/video_parts.ts";
import { nextPollAt, type WatchedTask } from "./watched_task.ts";

/** A vendor status that ends a task. */
type Final = Exclude<VideoProgress, { readonly status: "pending" }>;

/** Maximum length of a result address; all addresses must fit into the task's record. */
const MAX_RESULT_CHARACTERS = 4_096;
/** Maximum number of results per job. */
export const MAX_RESULTS = 8;
/** Maximum number of extras per job. */
export const MAX_EXTRAS = 2;
/** Delay after a response that could not be recorded; doubled with each consecutive failure. */
const RETRY_MS = { min: 1_000, max: 60_000 };

/**
 * Handles a vendor's response about a watched task.
 *
 * @returns When to poll again, in monotonic milliseconds; null if no more polls are needed.
 */
export type AnswerHandler = (task: WatchedTask, progress: VideoProgress) => Promise<number | null>;

/**
 * Creates the handler that ends tasks by the vendor's status or at their deadline. A failed poll never fails a task
 * (429, 5xx, no response, a provider that is no longer configured). The deadline does, and several polls with 404, see
 * {@linkcode ProviderPolls}.
 *
 * @param isHeld Whether a task is being cancelled, see {@linkcode Poller.hold}.
 */
export function answerHandler(parts: VideoParts, isHeld: (taskId: string) => boolean): AnswerHandler {
  const { clock, log, settings, random } = parts;
  const loggedStatuses = new Set<string>();

  async function handle(task: WatchedTask, progress: VideoProgress): Promise<number | null> {
    // Some vendors report a cancelled job as failed.
    const isFromCancel = isHeld(task.id) && progress.status !== "pending" && progress.status !== "completed";
    if (isFromCancel) return clock.monotonicMs() + RETRY_MS.min;
    if (progress.status !== "pending") {
      return await end(parts, task, progress) ? null : clock.monotonicMs() + RETRY_MS.min;
    }
    logUnknownStatus(parts, loggedStatuses, task.provider, progress.unknownStatus);
    if (task.deadlineAt <= clock.monotonicMs()) {
      return await endLate(parts, task) ? null : clock.monotonicMs() + RETRY_MS.min;
    }
    await recordProgress(parts, task, progress, clock.monotonicMs());
    const { retryAfterSeconds } = progress;
    return nextPollAt(task, clock.monotonicMs(), { schedule: settings.polling, random, retryAfterSeconds });
  }

  return async (task, progress) => {
    try {
      const nextAt = await handle(task, progress);
      task.failures = 0;
      return nextAt;
    } catch (error) {
      const reason = error instanceof Error ? `${error.name}: ${error.message.slice(0, 200)}` : "no error was thrown";
      log.warn("video_answer_unrecorded", { ref: task.id, provider: task.provider, attempt: task.failures, reason });
      return clock.monotonicMs() + Math.min(RETRY_MS.min * 2 ** task.failures++, RETRY_MS.max);
    }
  };
}

/** Ends a task as its vendor reports. Returns false if it is still pending because it changed meanwhile. */
async function end(parts: VideoParts, { id, job }: WatchedTask, progress: Final): Promise<boolean> {
  const entry = await readTask(parts.store, id);
  if (entry?.value.status === "pending") {
    return await endTask(parts, entry, endOf(parts.egress, progress), job) !== null ||
      await completeEnded(parts, job, progress.status);
  }
  return await completeEnded(parts, job, progress.status);
}

/** Ends a task whose deadline has passed. Returns false if it is still pending. */
async function endLate(parts: VideoParts, { id, job }: WatchedTask): Promise<boolean> {
  const entry = await readTask(parts.store, id);
  if (entry?.value.status === "pending" && await endOverdue(parts, entry, job)) return true;
  return await completeEnded(parts, job, null);
}

/**
 * Returns the end that a vendor's final status implies. A completion without a result that can be fetched is a failure.
 */
export function endOf(egress: EgressPolicy, progress: Final): TaskEnd {
  if (progress.status === "failed") {
    return { status: "failed", error: { code: progress.code, message: progress.message } };
  }
  if (progress.status !== "completed") return { status: progress.status };
  const fetchable = progress.results.filter((result) => isFetchable(result, egress)).slice(0, MAX_RESULTS);
  const results = limitAddresses(fetchable);
  if (results.length === 0) {
    const message = "The provider reported success without a usable result";
    return { status: "failed", error: { code: "upstream_error", message } };
  }
  const extras = (progress.extras ?? []).filter(({ url }) => isFetchable({ url, needsCredential: false }, egress))
    .slice(0, MAX_EXTRAS);
  const extraCount = limitAddresses([...results, ...extras]).length - results.length;
  return { status: "completed", results, extras: extras.slice(0, Math.max(extraCount, 0)), ...progress.consumption };
}

/**
 * Completes the job of a task that has ended; returns false if it has not. The first terminal status stands: a
 * different status from the vendor is logged.
 */
async function completeEnded({ store, log }: VideoParts, job: Job, reported: string | null): Promise<boolean> {
  const entry = await readTask(store, job.ref);
  const state = entry?.value.status;
  if (state === "pending") return false;
  if (reported !== null && state !== reported) {
    log.warn("video_contradiction", { ref: job.ref, state, reason: `the provider reported ${reported}` });
  }
  await store.commit(null, { completeJobs: [job] }); // fails if the terminal commit completed it
  return true;
}

function logUnknownStatus(
  { log }: VideoParts,
  logged: Set<string>,
  provider: string,
  status: string | undefined,
): void {
  if (status === undefined || logged.size >= 1_000 || logged.has(`${provider} ${status}`)) return;
  logged.add(`${provider} ${status}`);
  log.warn("video_status_unknown", { provider, state: status.slice(0, 64) });
}

function isFetchable({ url, needsCredential }: VideoResult, egress: EgressPolicy): boolean {
  if (url === null) return true; // its bytes come from the provider's own host
  if (url.length > MAX_RESULT_CHARACTERS) return false;
  if (needsCredential) return URL.canParse(url);
  try {
    checkTargetUrl(url, ["https:", "http:"], egress);
    return true;
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return error.details.rule === "length"; // pre-signed addresses are long, and only a download checks the rule
  }
}
