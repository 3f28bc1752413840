import { Instant } from "../../components/instant.tsx";
import { duration } from "../../format.ts";
import { TEXTS } from "../../texts.ts";
import type { TaskEvent } from "./task_events.ts";

/** What happened to a task, and when. */
export function TaskTimeline({ events }: { readonly events: readonly TaskEvent[] }) {
  return (
    <ol class="steps-list">
      {events.map((event, place) => (
        <li key={event.name} class={event.tone}>
          <strong>{TEXTS.videos.events[event.name]}</strong>
          {event.at !== null && (
            <span class="hint">
              <Instant at={event.at} /> {sinceText(event, events[place - 1])}
            </span>
          )}
          {event.note !== null && <span class="hint">{event.note}</span>}
        </li>
      ))}
    </ol>
  );
}

/** How long after the event before. */
function sinceText({ at }: TaskEvent, before: TaskEvent | undefined): string {
  if (at === null || before?.at === null || before === undefined) return "";
  return `(+${duration((at - before.at) * 1_000)})`;
}
