import type { TaskEventReader } from "../../videos/events/task_events.ts";

/** Header fields of a stream of events; the last one keeps nginx from collecting it. */
export const EVENT_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};

/** Longer ones are none of ours. */
const MAX_EVENT_ID_LENGTH = 64;

const encoder = new TextEncoder();

/**
 * Writes events of a task as server-sent events: named as webhooks name them, with the task object as data. Source:
 * HTML standard, "Server-sent events".
 */
export const EVENT_WRITER: Omit<TaskEventReader, "mayGoOn"> = {
  opening: encoder.encode("retry: 2000\n\n"),
  heartbeat: encoder.encode(": heartbeat\n\n"),
  write: ({ id, status, task }) =>
    encoder.encode(`id: ${id}\nevent: video.generation.${status}\ndata: ${JSON.stringify(task)}\n\n`),
};

/** The event that a reader saw last before it came back; null for none. */
export function lastEventIdIn(headers: Headers): string | null {
  const id = headers.get("last-event-id");
  return id === null || id.length > MAX_EVENT_ID_LENGTH ? null : id;
}
