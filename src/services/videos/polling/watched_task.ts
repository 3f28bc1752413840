import type { Job } from "../../../platform/store/store.ts";
import type { VideoJobHandle, VideoProgressDetails } from "../../../vendors/upstreams/contract/video_upstream.ts";
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
