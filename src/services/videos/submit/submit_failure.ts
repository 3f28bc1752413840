import type { Job } from "../../../platform/store/store.ts";
import { gatewayErrorFor, type UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type { TaskEntry } from "../tasks/records.ts";
import { retryNow } from "./submission.ts";
import type { TaskEnd, TaskError } from "../tasks/task.ts";
import { endTask } from "../tasks/terminal.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/** Ends a task as failed. Only the code and message of the error are stored. */
export async function failTask(parts: VideoParts, entry: TaskEntry, job: Job, error: TaskError): Promise<void> {
  const { code, message } = error;
  await endOrRetry(parts, entry, job, { status: "failed", error: { code, message } });
}

/** Ends a task that no vendor accepted. If it changed since it was read, the job reads it again. */
export async function endOrRetry(parts: VideoParts, entry: TaskEntry, job: Job, end: TaskEnd): Promise<void> {
  const ended = await endTask(parts, entry, end, job);
  if (ended === null) await retryNow(parts, job);
}

/** Codes that callers would relate to their own request. */
const VENDOR_AFFAIRS: ReadonlySet<string> = new Set(["not_found", "upstream_timeout", "permission_denied"]);

/**
 * Returns the task error of a vendor failure. A rejection of the caller's order keeps the vendor's message; other
 * failures get a general one.
 */
export function taskErrorOf(failure: UpstreamFailure): TaskError {
  if (failure.facts.isContentRefusal) {
    return { code: "content_policy_violation", message: failure.message };
  }
  const { code, message } = gatewayErrorFor(failure);
  return { code: VENDOR_AFFAIRS.has(code) ? "upstream_error" : code, message };
}
