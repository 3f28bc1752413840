import type { TaskEnd, TaskStage } from "../tasks/task.ts";
import type { VideoSettings } from "../video_parts.ts";

/** A stage in which a provider was called. */
export type SubmittingStage = Extract<TaskStage, { readonly step: "submitting" }>;

/**
 * Whether a create has ended without a word on whether the vendor began. True also of a stage that an earlier process
 * left: no create lasts as long as the doubt.
 */
export function isOutcomeUnknown(stage: SubmittingStage, now: number, settings: VideoSettings): boolean {
  return stage.unknownSince !== undefined || now >= doubtEndsAt(stage, settings);
}

/** From when on a create that the vendor does not have was never made, in Unix milliseconds. */
export function doubtEndsAt({ since }: SubmittingStage, { doubtMs }: VideoSettings): number {
  return since + doubtMs;
}

/** The end of a task that may or may not have begun at a vendor that will never say. */
export function unknownEnd({ provider }: SubmittingStage, settings: VideoSettings): TaskEnd {
  const message = `Provider "${provider}" did not confirm the task and may still have begun it; ` +
    "the gateway does not send it again";
  return { status: "failed", error: { code: "outcome_unknown", message }, isCharged: isCharged(settings) };
}

/** The same for a task that its caller ends first. */
export function cancelledUnknownEnd(settings: VideoSettings): TaskEnd {
  return { status: "cancelled", isCharged: isCharged(settings) };
}

function isCharged({ unknownCreates }: VideoSettings): boolean {
  return unknownCreates === "capture";
}
