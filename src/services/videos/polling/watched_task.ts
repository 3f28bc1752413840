import type { Job } from "../../../platform/store/store.ts";
import type { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type {
  VideoJobHandle,
  VideoProgress,
  VideoProgressDetails,
} from "../../../vendors/upstreams/contract/video_upstream.ts";
import { nextPollMs, type PollSchedule } from "../tasks/poll_schedule.ts";
import type { VideoTask } from "../tasks/task.ts";

/**
 * A submitted task watched by this process. It holds the data that polls need, so a poll without news needs no store
 * operation. Instants are monotonic milliseconds.
 */
export interface WatchedTask {
  readonly id: string;
  readonly account: string;
  readonly provider: string;
  readonly handle: VideoJobHandle;
  /** When the vendor accepted it. */
  readonly submittedAt: number;
  readonly deadlineAt: number;
  /** The task's job, leased by this process. */
  job: Job;
  /** True once no more polls are needed. */
  isDone: boolean;
  isBeingPolled: boolean;
  /** True once the vendor's list lacked it, so that it is polled individually. */
  isUnlisted: boolean;
  polledAt: number;
  /** Time of the next poll; not set during a poll. */
  dueAt: number;
  /** When a vendor callback last requested a poll; infinite if none did since the last poll. */
  callbackAt: number;
  /** Number of callbacks that caused a poll. */
  callbacks: number;
  /** Consecutive polls whose response could not be recorded. */
  failures: number;
  /** The polls since the vendor last had the job; null if it had it at the last one. A restart counts anew. */
  missing: MissingJob | null;
  /** Progress as stored in the task's record. */
  progress: VideoProgressDetails;
  progressWrittenAt: number;
}

/** The same moment on both clocks. */
export interface ClockReading {
  readonly monotonicMs: number;
  /** Unix milliseconds. */
  readonly unixMs: number;
}

/** Returns a submitted task as a watched task; null for any other task. */
export function watchedTaskOf(task: VideoTask, job: Job, { monotonicMs, unixMs }: ClockReading): WatchedTask | null {
  const { id, account, status, stage, createdAt, deadlineAt, progress = {} } = task;
  if (status !== "pending" || stage.step !== "submitted") return null;
  // If the clock moved backwards since, the task counts as new and has the full time.
  const ageMs = Math.max(unixMs - stage.since, 0);
  const leftMs = Math.min(Math.max(deadlineAt - unixMs, 0), deadlineAt - createdAt);
  return {
    id,
    account,
    provider: stage.provider,
    handle: stage.job,
    submittedAt: monotonicMs - ageMs,
    deadlineAt: monotonicMs + leftMs,
    job,
    isDone: false,
    isBeingPolled: false,
    isUnlisted: false,
    polledAt: -Infinity,
    dueAt: Infinity,
    callbackAt: Infinity,
    callbacks: 0,
    failures: 0,
    missing: null,
    progress,
    progressWrittenAt: -Infinity,
  };
}

/** Returns when to poll a task first; in the past if another process watched it before. */
export function firstPollAt(task: WatchedTask, schedule: PollSchedule, random: () => number): number {
  return Math.min(task.submittedAt + nextPollMs(schedule, 0, undefined, random), task.deadlineAt);
}

/**
 * Returns when to poll a task again.
 *
 * @param retryAfterSeconds The vendor's `Retry-After`.
 */
export function nextPollAt(
  task: WatchedTask,
  now: number,
  { schedule, random, retryAfterSeconds }: {
    readonly schedule: PollSchedule;
    readonly random: () => number;
    readonly retryAfterSeconds: number | undefined;
  },
): number {
  const ageMs = Math.max(now - task.submittedAt, 1);
  return Math.min(now + nextPollMs(schedule, ageMs, retryAfterSeconds, random), Math.max(task.deadlineAt, now + 1));
}

/** The consecutive polls after which the vendor returned that it has no such job. */
export interface MissingJob {
  /** The first of them, in monotonic milliseconds. */
  readonly since: number;
  readonly polls: number;
}

/** Some vendors return 404 for the first seconds of a job, and a vendor's own fault can last for minutes. */
const MIN_MISSING_MS = 600_000;
const MIN_MISSING_POLLS = 5;

/** Whether a vendor refuses a poll because it has no such job: 404, or 410 (RFC 9110, 15.5.5 and 15.5.11). */
export function isMissingJob({ kind, facts: { status } }: UpstreamFailure): boolean {
  return kind === "invalid" && (status === 404 || status === 410);
}

/**
 * Counts a poll that did not find the job.
 *
 * @param before Null if the poll before found it, or there was none.
 * @param now Monotonic milliseconds.
 */
export function countMissing(before: MissingJob | null, now: number): MissingJob {
  return { since: before?.since ?? now, polls: (before?.polls ?? 0) + 1 };
}

/**
 * Returns the end of a task whose vendor no longer has the job; null while the job may come back.
 *
 * @param now Monotonic milliseconds.
 */
export function endOfMissing({ since, polls }: MissingJob, now: number): VideoProgress | null {
  return polls < MIN_MISSING_POLLS || now - since < MIN_MISSING_MS ? null : LOST;
}

const LOST: VideoProgress = {
  status: "failed",
  code: "upstream_error",
  message: "The provider no longer has the job, as it has reported for ten minutes. Create the video again.",
};
