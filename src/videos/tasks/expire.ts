import type { Job } from "../../store/store.ts";
import type { TaskEntry } from "./records.ts";
import type { TaskEnd, VideoTask } from "./task.ts";
import { endTask } from "./terminal.ts";
import { unknownEnd } from "../submit/unknown_outcome.ts";
import type { VideoParts } from "../video_parts.ts";

/**
 * Ends a task whose deadline has passed: `expired`, or `failed` when nobody knows whether a vendor ever had it. A
 * vendor that can stop its work is told to by a job of its own.
 *
 * @returns False when the task was changed meanwhile, so that nothing was done.
 */
export async function endOverdue(parts: VideoParts, entry: TaskEntry, job: Job): Promise<boolean> {
  return await endTask(parts, entry, overdueEnd(parts, entry.value), job) !== null;
}

function overdueEnd({ settings, upstreams }: VideoParts, { stage }: VideoTask): TaskEnd {
  if (stage.step === "submitting") return unknownEnd(stage, settings);
  const canStop = stage.step === "submitted" && Boolean(upstreams.get(stage.provider)?.cancel);
  return { status: "expired", stopsVendor: canStop };
}
