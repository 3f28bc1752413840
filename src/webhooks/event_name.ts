import { TERMINAL_STATUSES, type TerminalStatus } from "../calls/ended_task.ts";

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

/** What the name of an event follows from: the status of a video task, or the name of a notification itself. */
export type EventStatus = TerminalStatus | NotificationEvent;

/** Returns the name of an event. Source: docs/api/webhooks.md#events. */
export function eventOf(status: EventStatus): string {
  return isTerminal(status) ? `video.generation.${status}` : status;
}

function isTerminal(status: EventStatus): status is TerminalStatus {
  return TERMINAL_STATUSES.some((each) => each === status);
}
