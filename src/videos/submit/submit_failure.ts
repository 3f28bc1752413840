import type { Job } from "../../store/store.ts";
import { gatewayErrorFor, type UpstreamFailure } from "../../upstreams/failure.ts";
import type { TaskEntry } from "../tasks/records.ts";
import { lookAgain } from "./submission.ts";
import type { TaskEnd, TaskError } from "../tasks/task.ts";
import { endTask } from "../tasks/terminal.ts";
import type { VideoParts } from "../video_parts.ts";

/** Ends a task as failed. Of the error only code and message are kept. */
export async function failTask(parts: VideoParts, entry: TaskEntry, job: Job, error: TaskError): Promise<void> {
  const { code, message } = error;
  await endOrLookAgain(parts, entry, job, { status: "failed", error: { code, message } });
}

/** Ends a task that got to no vendor. Where another changed it first, the job looks again. */
export async function endOrLookAgain(parts: VideoParts, entry: TaskEntry, job: Job, end: TaskEnd): Promise<void> {
  const ended = await endTask(parts, entry, end, job);
  if (ended === null) await lookAgain(parts, job);
}

/** Codes that a caller would take for its own. */
const VENDOR_AFFAIRS: ReadonlySet<string> = new Set(["not_found", "upstream_timeout", "permission_denied"]);

/** A refusal of what the caller ordered keeps the vendor's words; the rest is the vendor's or the operator's affair. */
export function taskErrorOf(failure: UpstreamFailure): TaskError {
  if (failure.facts.isContentRefusal) {
    return { code: "content_policy_violation", message: failure.message };
  }
  const { code, message } = gatewayErrorFor(failure);
  return { code: VENDOR_AFFAIRS.has(code) ? "upstream_error" : code, message };
}
