import type { Job } from "../store/store.ts";
import type { TaskEntry } from "./records.ts";
import { stopAtVendor } from "./submission.ts";
import type { TaskEnd, VideoTask } from "./task.ts";
import { endTask } from "./terminal.ts";
import { unknownEnd } from "./unknown_outcome.ts";
import type { VideoParts } from "./video_parts.ts";

/**
 * Ends a task whose deadline has passed: `expired`, or `failed` when nobody knows whether a vendor ever had it. A vendor that
 * can stop its work is asked to, after the commit.
 */
export async function endOverdue(parts: VideoParts, entry: TaskEntry, job: Job): Promise<void> {
  const ended = await endTask(parts, entry, overdueEnd(parts, entry.value), job);
  if (ended?.stage.step === "submitted") await stopAtVendor(parts, ended.id, ended.stage.provider, ended.stage.job);
}

function overdueEnd({ settings }: VideoParts, { stage }: VideoTask): TaskEnd {
  return stage.step === "submitting" ? unknownEnd(stage, settings) : { status: "expired" };
}
