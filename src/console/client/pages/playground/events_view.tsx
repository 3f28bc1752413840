import { duration, number } from "../../format.ts";
import { TEXTS } from "../../texts.ts";
import { CopyButton } from "../../components/copy_button.tsx";
import type { Exchange } from "./exchange.ts";
import { withShortData } from "./snippets/short_data.ts";

/** The events that are drawn; all that are kept are copied. */
const MAX_SHOWN = 500;

/** The events of a stream as they came. */
export function EventsView({ exchange: { events, furtherEvents } }: { readonly exchange: Exchange }) {
  const hidden = furtherEvents + Math.max(0, events.length - MAX_SHOWN);
  const whole = () =>
    events.map(({ name, data }) => `${name === "" ? "" : `event: ${name}\n`}data: ${data}\n`).join("\n");
  return (
    <div class="panel">
      <div class="panel-head">
        <strong>{TEXTS.playground.facts.eventsLabel}</strong>
        <CopyButton text={whole} />
      </div>
      <ol class="events" tabIndex={0} aria-label={TEXTS.playground.facts.eventsLabel}>
        {events.slice(0, MAX_SHOWN).map(({ atMs, name, data }, place) => (
          <li key={place}>
            <span class="event-time">{duration(atMs)}</span>
            <code>{name !== "" && <strong>{name}</strong>}{withShortData(data)}</code>
          </li>
        ))}
      </ol>
      {hidden > 0 && <p class="hint">{TEXTS.playground.facts.furtherEvents(number(hidden))}</p>}
    </div>
  );
}
