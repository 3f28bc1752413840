import type { Job } from "../../../platform/store/store.ts";
import type { TaskEntry } from "./records.ts";
import type { TaskEnd, VideoTask } from "./task.ts";
import { endTask } from "./terminal.ts";
import { unknownEnd } from "./unknown_outcome.ts";
import type { VideoParts } from "./video_parts.ts";

/**
 * Ends a task whose deadline has passed: `expired`, or `failed` if it is unknown whether a vendor has it. A separate
 * job cancels the vendor's job if the vendor supports it.
 *
 * @returns False if the task changed meanwhile and nothing was done.
 */
export async function endOverdue(parts: VideoParts, entry: TaskEntry, job: Job): Promise<boolean> {
  return await endTask(parts, entry, overdueEnd(parts, entry.value), job) !== null;
}

function overdueEnd({ settings, upstreams }: VideoParts, { stage }: VideoTask): TaskEnd {
  if (stage.step === "submitting") return unknownEnd(stage, settings);
  const canStop = stage.step === "submitted" && Boolean(upstreams.get(stage.provider)?.cancel);
  return { status: "expired", stopsVendor: canStop };
}
