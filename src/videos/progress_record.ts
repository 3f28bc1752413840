import type { VideoProgressDetails } from "../upstreams/video_upstream.ts";
import { changeTask, readTask } from "./records.ts";
import type { VideoParts } from "./video_parts.ts";
import type { WatchedTask } from "./watched_task.ts";

/** The shortest distance between two writes of one task's progress; its start is written at once. */
const WRITE_DISTANCE_MS = 10_000;

/** What a vendor told, as it may stand in a record: numbers within their ranges, nothing that it did not tell. */
export function readProgress(told: VideoProgressDetails): VideoProgressDetails {
  const { progressPercent: percent, queuePosition: place, startedAt } = told;
  return {
    ...(isNumber(percent) && { progressPercent: Math.min(Math.max(Math.floor(percent), 0), 100) }),
    ...(isNumber(place) && place >= 0 && { queuePosition: Math.floor(place) }),
    ...(isNumber(startedAt) && startedAt > 0 && { startedAt }),
  };
}

/**
 * Records what the vendor told of a task that goes on, where it differs from what stands there and enough time has passed: a
 * poll without news writes nothing, and one with news not more often than every {@linkcode WRITE_DISTANCE_MS}.
 *
 * @param now Monotonic milliseconds.
 */
export async function recordProgress(
  { store }: VideoParts,
  task: WatchedTask,
  told: VideoProgressDetails,
  now: number,
): Promise<void> {
  const progress = { ...task.progress, ...readProgress(told) };
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
