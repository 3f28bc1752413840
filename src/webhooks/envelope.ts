import type { EndedTask, TerminalStatus } from "../calls/ended_task.ts";

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
