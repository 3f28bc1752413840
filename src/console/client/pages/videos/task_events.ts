import type { OwnVideoTask, VideoTask } from "../../shapes.ts";

/** Something that happened to a task, or is expected. */
export interface TaskEvent {
  readonly name:
    | "created"
    | "submitting"
    | "submitted"
    | "started"
    | "deadline"
    | "completed"
    | "failed"
    | "cancelled"
    | "expired";
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
  const end = endOf(status, ended_at, failure);
  if (end !== null) events.push(end);
  else if (deadline_at !== null) events.push({ name: "deadline", at: deadline_at, tone: "expected", note: null });
  return events;
}

type OwnFacts = Pick<OwnVideoTask, "status" | "provider" | "created_at" | "updated_at" | "started_at" | "error">;

/** What happened to a task as its caller sees it, in order of time. */
export function ownTaskEventsOf(
  { status, provider, created_at, updated_at, started_at, error }: OwnFacts,
): TaskEvent[] {
  const events: TaskEvent[] = [{ name: "created", at: created_at, tone: "plain", note: null }];
  if (provider !== undefined) events.push({ name: "submitted", at: null, tone: "plain", note: provider });
  if (started_at !== undefined) events.push({ name: "started", at: started_at, tone: "plain", note: null });
  const end = endOf(status, updated_at, error?.code ?? null);
  return end === null ? events : [...events, end];
}

/** Null while a task is pending. */
function endOf(status: string, at: number | null, note: string | null): TaskEvent | null {
  const name = ENDS.find((each) => each === status);
  return name === undefined ? null : { name, at, tone: name === "completed" ? "good" : "bad", note };
}
