import type { Job } from "../../store/store.ts";
import type { VideoJobHandle, VideoProgressDetails } from "../../upstreams/video_upstream.ts";
import { nextPollMs, type PollSchedule } from "./poll_schedule.ts";
import type { VideoTask } from "../tasks/task.ts";

/**
 * A task that a vendor has, as this process watches it: what a poll needs, kept in memory so that a poll without news
 * touches no store. Instants are monotonic milliseconds.
 */
export interface WatchedTask {
  readonly id: string;
  readonly account: string;
  readonly provider: string;
  readonly handle: VideoJobHandle;
  /** When the vendor took it. */
  readonly submittedAt: number;
  readonly deadlineAt: number;
  /** The task's job, leased by this process. */
  job: Job;
  /** True once nobody has to poll for it any more. */
  isOver: boolean;
  isBeingPolled: boolean;
  /** True once the vendor's list did not contain it, so that it is polled by itself. */
  isUnlisted: boolean;
  polledAt: number;
  /** When it is polled for next, while it is not. */
  dueAt: number;
  /** When the vendor's callback asked for a poll; infinite when it did not since the last one. */
  calledAt: number;
  /** How many callbacks led to a poll. */
  calls: number;
  /** Polls in a row whose answer could not be recorded. */
  failures: number;
  /** As it stands in the task's record. */
  progress: VideoProgressDetails;
  progressWrittenAt: number;
}

/** The clocks' instants of one moment. */
export interface Moment {
  readonly monotonicMs: number;
  /** Unix milliseconds. */
  readonly unixMs: number;
}

/** A pending task that its vendor has, from now on watched; null for any other. */
export function watchedTaskOf(task: VideoTask, job: Job, { monotonicMs, unixMs }: Moment): WatchedTask | null {
  const { id, account, status, stage, createdAt, deadlineAt, progress = {} } = task;
  if (status !== "pending" || stage.step !== "submitted") return null;
  // Instants of a clock that was set back since then: the task is as young, and has as much time, as can be.
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
    isOver: false,
    isBeingPolled: false,
    isUnlisted: false,
    polledAt: -Infinity,
    dueAt: Infinity,
    calledAt: Infinity,
    calls: 0,
    failures: 0,
    progress,
    progressWrittenAt: -Infinity,
  };
}

/** When to poll for a task first; in the past for one that another process watched before. */
export function firstPollAt(task: WatchedTask, schedule: PollSchedule, random: () => number): number {
  return Math.min(task.submittedAt + nextPollMs(schedule, 0, undefined, random), task.deadlineAt);
}

/**
 * When to poll for a task again.
 *
 * @param retryAfterSeconds What the vendor requested.
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
