import type { VideoTask } from "../../shapes.ts";

/** Something that happened to a task, or is expected. */
export interface TaskEvent {
  readonly name: "created" | "submitting" | "submitted" | "deadline" | "completed" | "failed" | "cancelled" | "expired";
  /** Unix seconds; null if it is not known. */
  readonly at: number | null;
  readonly tone: "good" | "bad" | "plain" | "expected";
  /** Who or why; null for nothing. */
  readonly note: string | null;
}

type Facts = Pick<
  VideoTask,
  "status" | "step" | "step_since" | "provider" | "created_at" | "ended_at" | "deadline_at" | "failure"
>;

const ENDS = ["completed", "failed", "cancelled", "expired"] as const;

/** What happened to a task in order of time, with its deadline while it is pending. */
export function taskEventsOf(task: Facts): TaskEvent[] {
  const { status, step, step_since, provider, created_at, ended_at, deadline_at, failure } = task;
  const events: TaskEvent[] = [{ name: "created", at: created_at, tone: "plain", note: null }];
  if (step === "submitting" || step === "submitted") {
    events.push({ name: step, at: step_since, tone: "plain", note: provider });
  }
  const end = ENDS.find((each) => each === status);
  if (end !== undefined) {
    events.push({ name: end, at: ended_at, tone: end === "completed" ? "good" : "bad", note: failure });
  } else if (deadline_at !== null) events.push({ name: "deadline", at: deadline_at, tone: "expected", note: null });
  return events;
}
