import type { EndedTask, TerminalStatus } from "../calls/ended_task.ts";

/** Returns the event name of a terminal status. Source: docs/api/webhooks.md#events. */
export function eventOf(status: TerminalStatus): string {
  return `video.generation.${status}`;
}

/** Returns the permanent key of one event: `<task id>-<status>`. Source: docs/api/webhooks.md#headers. */
export function idempotencyKeyOf(taskId: string, status: TerminalStatus): string {
  return `${taskId}-${status}`;
}

/**
 * Renders the body of a delivery in UTF-8. It is rendered once and sent unchanged on every attempt. Source:
 * docs/api/webhooks.md#envelope.
 */
export function renderEnvelope({ taskId, status, endedAt, task }: EndedTask): Uint8Array<ArrayBuffer> {
  const envelope = { event: eventOf(status), id: taskId, created_at: Math.floor(endedAt / 1_000), data: task };
  return new TextEncoder().encode(JSON.stringify(envelope));
}
