import type { TaskEnd, TaskStage } from "./task.ts";
import type { VideoSettings } from "./video_parts.ts";

/** The stage in which a provider was called. */
export type SubmittingStage = Extract<TaskStage, { readonly step: "submitting" }>;

/**
 * Whether a create call ended without a known outcome. Also true for a stage that an earlier process left behind,
 * because no create call lasts as long as the doubt period.
 */
export function isOutcomeUnknown(stage: SubmittingStage, now: number, settings: VideoSettings): boolean {
  return stage.unknownSince !== undefined || now >= doubtEndsAt(stage, settings);
}

/**
 * Returns when the doubt period ends, in Unix milliseconds. A create that the vendor does not list after that was never
 * made.
 */
export function doubtEndsAt({ since }: SubmittingStage, { doubtMs }: VideoSettings): number {
  return since + doubtMs;
}

/** Returns the end of a task whose outcome at the vendor stays unknown. */
export function unknownEnd({ provider }: SubmittingStage, settings: VideoSettings): TaskEnd {
  const message = `Provider "${provider}" did not confirm the task and may have started it; ` +
    "the gateway does not submit it again";
  return { status: "failed", error: { code: "outcome_unknown", message }, isCharged: isCharged(settings) };
}

/** Returns the end of such a task if its caller cancels it first. */
export function cancelledUnknownEnd(settings: VideoSettings): TaskEnd {
  return { status: "cancelled", isCharged: isCharged(settings) };
}

function isCharged({ unknownCreates }: VideoSettings): boolean {
  return unknownCreates === "capture";
}
