import { UNBUFFERED } from "../../../platform/http/request/headers.ts";
import type { TaskEventReader } from "../../../services/videos/events/task_events.ts";

/** The headers of an event stream. */
export const EVENT_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  ...UNBUFFERED,
};

/** The gateway's event ids are shorter. */
const MAX_EVENT_ID_LENGTH = 64;

const encoder = new TextEncoder();

/**
 * Writes task events as server-sent events, with the webhook's event name and the task object as data. Source: HTML
 * standard, "Server-sent events".
 */
export const EVENT_WRITER: Omit<TaskEventReader, "isAuthorized"> = {
  opening: encoder.encode("retry: 2000\n\n"),
  heartbeat: encoder.encode(": heartbeat\n\n"),
  write: ({ id, status, task }) =>
    encoder.encode(`id: ${id}\nevent: video.generation.${status}\ndata: ${JSON.stringify(task)}\n\n`),
};

/** The last event that a client received before it reconnected; null if there is none. */
export function lastEventIdIn(headers: Headers): string | null {
  const id = headers.get("last-event-id");
  return id === null || id.length > MAX_EVENT_ID_LENGTH ? null : id;
}
