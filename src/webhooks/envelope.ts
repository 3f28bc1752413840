import type { EndedTask } from "../calls/ended_task.ts";
import { eventOf, type EventStatus } from "./event_name.ts";

/**
 * Returns the permanent key of one event: the id of the task and its status, or the id and the name of a notification.
 * Source: docs/api/webhooks.md#headers.
 */
export function idempotencyKeyOf(id: string, status: EventStatus): string {
  return `${id}-${status}`;
}

/** Renders the body of a delivery of a task that ended, as {@linkcode renderEvent}. */
export function renderEnvelope({ taskId: id, status, endedAt: at, task: data }: EndedTask): Uint8Array<ArrayBuffer> {
  return renderEvent({ id, status, at, data });
}

/** An event as its receiver gets it. */
export interface RenderedEvent {
  /** The task's id, or the notification's. */
  readonly id: string;
  readonly status: EventStatus;
  /** Unix milliseconds: the time of the event. */
  readonly at: number;
  readonly data: object;
}

/**
 * Renders the body of a delivery in UTF-8. It is rendered once and sent unchanged on every attempt. Source:
 * docs/api/webhooks.md#envelope.
 */
export function renderEvent({ id, status, at, data }: RenderedEvent): Uint8Array<ArrayBuffer> {
  const envelope = { event: eventOf(status), id, created_at: Math.floor(at / 1_000), data };
  return new TextEncoder().encode(JSON.stringify(envelope));
}
