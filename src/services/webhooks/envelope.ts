import { type EndedTask, TERMINAL_STATUSES, type TerminalStatus } from "./ended_task.ts";

/** The events beside those of video tasks. Source: docs/api/webhooks.md#notifications. */
export const NOTIFICATION_EVENTS = [
  "balance.low",
  "budget.reached",
  "key.expiring",
  "model.deprecated",
  "price.changed",
  "provider.failing",
] as const;

/** One of {@linkcode NOTIFICATION_EVENTS}. */
export type NotificationEvent = typeof NOTIFICATION_EVENTS[number];

/** The event of the end of a batch. Source: docs/api/webhooks.md#events. */
export type BatchEvent = `${typeof BATCH_PREFIX}${TerminalStatus}`;

const BATCH_PREFIX = "batch.";

/** What the name of an event follows from: the status of a video task, or the name of another event itself. */
export type EventStatus = TerminalStatus | NotificationEvent | BatchEvent;

/** Returns the name of an event. Source: docs/api/webhooks.md#events. */
export function eventOf(status: EventStatus): string {
  return isTerminal(status) ? `video.generation.${status}` : status;
}

function isTerminal(status: EventStatus): status is TerminalStatus {
  return TERMINAL_STATUSES.some((each) => each === status);
}

/**
 * Returns the permanent key of one event: the id of the task or batch and its status, or the id and the name of a
 * notification. Source: docs/api/webhooks.md#headers.
 */
export function idempotencyKeyOf(id: string, status: EventStatus): string {
  return `${id}-${status.startsWith(BATCH_PREFIX) ? status.slice(BATCH_PREFIX.length) : status}`;
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

/** The end of a batch as OpenAI sends it. Source: OpenAI API reference, "Webhook events". */
export function renderOpenAiEvent(
  { id, status, at }: Omit<RenderedEvent, "data"> & { readonly status: BatchEvent },
): Uint8Array<ArrayBuffer> {
  const event = {
    id: `evt_${id.replace(/^[a-z]+_/, "")}`,
    object: "event",
    created_at: Math.floor(at / 1_000),
    type: status,
    data: { id },
  };
  return new TextEncoder().encode(JSON.stringify(event));
}
