import type { VideoProgress, VideoProgressDetails } from "../../../vendors/upstreams/contract/video_upstream.ts";
import { changeTask, readTask } from "../tasks/records.ts";
import type { VideoParts } from "../tasks/video_parts.ts";
import type { WatchedTask } from "./watched_task.ts";

/** Minimum interval between two writes of one task's progress; its start is written immediately. */
const WRITE_INTERVAL_MS = 10_000;

/** Progress that a vendor reports for a running job. */
type ReportedProgress = VideoProgressDetails & Pick<Extract<VideoProgress, { status: "pending" }>, "isRunning">;

/**
 * Returns the progress to store after a report. Numbers are limited to their ranges, and missing values keep their
 * previous ones. A running job has no queue position. Unless the vendor reports its start, it started at the first poll
 * that found it running.
 *
 * @param before The stored progress.
 * @param now Unix milliseconds.
 */
export function progressAfter(
  before: VideoProgressDetails,
  report: ReportedProgress,
  now: number,
): VideoProgressDetails {
  const { progressPercent: percent, queuePosition: position, startedAt, isRunning } = report;
  const { queuePosition: previousPosition, ...rest } = before;
  const currentPosition = isNumber(position) && position >= 0 ? Math.floor(position) : previousPosition;
  const began = isNumber(startedAt) && startedAt > 0 ? startedAt : before.startedAt ?? (isRunning ? now : undefined);
  return {
    ...rest,
    ...(isNumber(percent) && { progressPercent: Math.min(Math.max(Math.floor(percent), 0), 100) }),
    ...(isRunning !== true && isNumber(currentPosition) && { queuePosition: currentPosition }),
    ...(isNumber(began) && { startedAt: began }),
  };
}

/**
 * Records the reported progress of a pending task if it changed and enough time has passed. A poll without news writes
 * nothing; one with news writes at most every {@linkcode WRITE_INTERVAL_MS}.
 *
 * @param now Monotonic milliseconds.
 */
export async function recordProgress(
  { store }: VideoParts,
  task: WatchedTask,
  report: ReportedProgress,
  now: number,
): Promise<void> {
  const progress = progressAfter(task.progress, report, store.now());
  if (isSame(progress, task.progress)) return;
  const hasBegun = progress.startedAt !== undefined && task.progress.startedAt === undefined;
  if (!hasBegun && now - task.progressWrittenAt < WRITE_INTERVAL_MS) return;
  const entry = await readTask(store, task.id);
  if (entry?.value.status !== "pending") return;
  const { ok } = await store.commit(null, changeTask({}, entry, { progress }));
  if (!ok) return; // the task changed meanwhile: a later poll reports it again
  task.progress = progress;
  task.progressWrittenAt = now;
}

function isSame(one: VideoProgressDetails, other: VideoProgressDetails): boolean {
  return one.progressPercent === other.progressPercent && one.queuePosition === other.queuePosition &&
    one.startedAt === other.startedAt;
}

function isNumber(value: number | null | undefined): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
