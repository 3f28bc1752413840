import { duration } from "../../format.ts";
import { TEXTS } from "../../texts.ts";
import { timelineOf } from "./timeline_phases.ts";
import type { LoggedRequest } from "./logged_request.ts";

/** What happened when: the admission, each attempt, and the response. */
export function Timeline({ request }: { readonly request: LoggedRequest }) {
  const total = Math.max(request.duration_ms, 1);
  return (
    <ol class="timeline">
      {timelineOf(request).map(({ kind, name, startMs, lengthMs, note }) => (
        <li key={`${name} ${startMs}`}>
          <span class="timeline-name">{name}</span>
          <span class="timeline-track" aria-hidden="true">
            <span
              class={`timeline-bar ${kind}`}
              style={{ left: `${100 * startMs / total}%`, width: `${Math.max(100 * lengthMs / total, 0.5)}%` }}
            />
          </span>
          <span class="timeline-time">{duration(lengthMs)}</span>
          {note !== null && <span class="timeline-note hint">{note}</span>}
        </li>
      ))}
      <li>
        <span class="timeline-name">{TEXTS.requests.duration}</span>
        <span class="timeline-track none" aria-hidden="true" />
        <span class="timeline-time">{duration(request.duration_ms)}</span>
      </li>
    </ol>
  );
}
