import type { EndedTask, TerminalStatus } from "../calls/ended_task.ts";

/** The event's name. Source: docs/api/webhooks.md#events. */
export function eventOf(status: TerminalStatus): string {
  return `video.generation.${status}`;
}

/** Names one event for ever: `<task id>-<status>`. Source: docs/api/webhooks.md#headers. */
export function idempotencyKeyOf(taskId: string, status: TerminalStatus): string {
  return `${taskId}-${status}`;
}

/**
 * The body of a delivery, in UTF-8: rendered once, sent as it is on every attempt. Source:
 * docs/api/webhooks.md#envelope.
 */
export function renderEnvelope({ taskId, status, endedAt, task }: EndedTask): Uint8Array<ArrayBuffer> {
  const envelope = { event: eventOf(status), id: taskId, created_at: Math.floor(endedAt / 1_000), data: task };
  return new TextEncoder().encode(JSON.stringify(envelope));
}
