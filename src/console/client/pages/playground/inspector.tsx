import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { number } from "../../format.ts";
import { TEXTS } from "../../texts.ts";
import { CodeView } from "./code_view.tsx";
import { EventsView } from "./events_view.tsx";
import type { Exchange } from "./exchange.ts";
import type { Language } from "./snippets/snippet.ts";

type Panel = "events" | "code";

/** Buttons below an answer, which show its raw events and its request as a program. */
export function Inspector({ exchange, snippet, children }: {
  readonly exchange: Exchange;
  readonly snippet: (language: Language, baseUrl: string) => string;
  /** Further buttons. Default: none. */
  readonly children?: ComponentChildren;
}) {
  const [shown, setShown] = useState<Panel | null>(null);
  const toggle = (panel: Panel, title: string) => (
    <button
      type="button"
      class="small"
      aria-expanded={shown === panel}
      onClick={() => setShown(shown === panel ? null : panel)}
    >
      {title}
    </button>
  );
  const count = exchange.events.length + exchange.furtherEvents;
  return (
    <>
      <div class="actions">
        {count > 0 && toggle("events", TEXTS.playground.facts.events(number(count)))}
        {toggle("code", TEXTS.playground.facts.code)}
        {children}
      </div>
      {shown === "events" && <EventsView exchange={exchange} />}
      {shown === "code" && <CodeView snippet={snippet} />}
    </>
  );
}
