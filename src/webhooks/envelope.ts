/** A task that settled into a terminal status. */
export interface EndedTask {
  readonly taskId: string;
  readonly account: string;
  readonly status: TerminalStatus;
  /** Null when nobody is to be told. */
  readonly callbackUrl: string | null;
  /** Unix milliseconds: the event's time. */
  readonly endedAt: number;
  /** The task object, as its caller sees it. */
  readonly task: object;
}

/** What a task can end as. */
export type TerminalStatus = "completed" | "failed" | "cancelled" | "expired";

/** The event's name. Source: SPEC "Events". */
export function eventOf(status: TerminalStatus): string {
  return `video.generation.${status}`;
}

/** Names one event for ever: `<task id>-<status>`. Source: SPEC "Events", rule 2. */
export function idempotencyKeyOf(taskId: string, status: TerminalStatus): string {
  return `${taskId}-${status}`;
}

/** The body of a delivery, in UTF-8: rendered once, sent as it is on every attempt. Source: SPEC "Webhook envelope". */
export function renderEnvelope({ taskId, status, endedAt, task }: EndedTask): Uint8Array<ArrayBuffer> {
  const envelope = { event: eventOf(status), id: taskId, created_at: Math.floor(endedAt / 1_000), data: task };
  return new TextEncoder().encode(JSON.stringify(envelope));
}
