import type { Job } from "../store/store.ts";
import type { TaskEntry } from "./records.ts";
import type { TaskEnd, VideoTask } from "./task.ts";
import { endTask } from "./terminal.ts";
import type { VideoParts } from "./video_parts.ts";

/**
 * Ends a task whose deadline has passed: `expired`, or `failed` when nobody knows whether a vendor ever had it. A vendor that
 * can stop its work is asked to, after the commit and without waiting for more than its answer.
 */
export async function endOverdue(parts: VideoParts, entry: TaskEntry, job: Job): Promise<void> {
  const ended = await endTask(parts, entry, overdueEnd(entry.value), job);
  if (ended === null || ended.stage.step !== "submitted") return;
  const { provider, job: upstreamJob } = ended.stage;
  try {
    await parts.upstreams.get(provider)?.cancel?.(upstreamJob);
  } catch {
    parts.log.warn("video_left_running", { ref: ended.id, provider });
  }
}

function overdueEnd({ stage }: VideoTask): TaskEnd {
  if (stage.step !== "submitting") return { status: "expired" };
  const message = `Provider "${stage.provider}" never said whether it took the task`;
  return { status: "failed", error: { code: "upstream_error", message } };
}
