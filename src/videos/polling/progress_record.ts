import type { VideoProgress, VideoProgressDetails } from "../../upstreams/video_upstream.ts";
import { changeTask, readTask } from "../tasks/records.ts";
import type { VideoParts } from "../video_parts.ts";
import type { WatchedTask } from "./watched_task.ts";

/** The shortest distance between two writes of one task's progress; its start is written at once. */
const WRITE_DISTANCE_MS = 10_000;

/** What a vendor tells of a job that goes on. */
type Told = VideoProgressDetails & Pick<Extract<VideoProgress, { status: "pending" }>, "isRunning">;

/**
 * What a record holds after a vendor told more: numbers within their ranges, and what it told before where it is silent
 * now. A job that runs has no place in a queue any more, and began at the first look that found it running unless its
 * vendor says when.
 *
 * @param before What the record holds now.
 * @param now Unix milliseconds.
 */
export function progressAfter(before: VideoProgressDetails, told: Told, now: number): VideoProgressDetails {
  const { progressPercent: percent, queuePosition: place, startedAt, isRunning } = told;
  const { queuePosition: placeBefore, ...rest } = before;
  const placeNow = isNumber(place) && place >= 0 ? Math.floor(place) : placeBefore;
  const began = isNumber(startedAt) && startedAt > 0 ? startedAt : before.startedAt ?? (isRunning ? now : undefined);
  return {
    ...rest,
    ...(isNumber(percent) && { progressPercent: Math.min(Math.max(Math.floor(percent), 0), 100) }),
    ...(isRunning !== true && isNumber(placeNow) && { queuePosition: placeNow }),
    ...(isNumber(began) && { startedAt: began }),
  };
}

/**
 * Records what the vendor told of a task that goes on, where it differs from what stands there and enough time has
 * passed: a poll without news writes nothing, and one with news not more often than every {@linkcode
 * WRITE_DISTANCE_MS}.
 *
 * @param now Monotonic milliseconds.
 */
export async function recordProgress(
  { store }: VideoParts,
  task: WatchedTask,
  told: Told,
  now: number,
): Promise<void> {
  const progress = progressAfter(task.progress, told, store.now());
  if (isSame(progress, task.progress)) return;
  const hasBegun = progress.startedAt !== undefined && task.progress.startedAt === undefined;
  if (!hasBegun && now - task.progressWrittenAt < WRITE_DISTANCE_MS) return;
  const entry = await readTask(store, task.id);
  if (entry?.value.status !== "pending") return;
  const { ok } = await store.commit(null, changeTask({}, entry, { progress }));
  if (!ok) return; // somebody else changed the task: a later poll tells it again
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
