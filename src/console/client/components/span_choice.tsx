import { useState } from "preact/hooks";
import { query, setQuery } from "../navigation.ts";
import { TEXTS } from "../texts.ts";
import { Choice } from "./choice.tsx";
import { Field } from "./action_form.tsx";

/** The ends of a time range as they are in the address; null if a fixed span is chosen. */
export interface RangeEnds {
  readonly from: string;
  /** Empty for now. */
  readonly to: string;
}

/** The time range in the address; null if it has none. */
export function rangeInAddress(): RangeEnds | null {
  const [from, to] = [query.value.get("from") ?? "", query.value.get("to") ?? ""];
  return from === "" ? null : { from, to };
}

const OWN = "own";

/** A choice between fixed spans that end now, and a time range of one's own. What is chosen is in the address. */
export function SpanChoice<T extends string>({ label, parameter, spans, titles, span, type, min, max }: {
  /** For screen readers. */
  readonly label: string;
  /** The parameter of the address that has the fixed span. */
  readonly parameter: string;
  readonly spans: readonly T[];
  readonly titles: Readonly<Record<T, string>>;
  /** The fixed span that is shown if the address has no time range. */
  readonly span: T;
  /** Whether the ends are times in the viewer's zone, or days. */
  readonly type: "datetime-local" | "date";
  /** The earliest and the latest end, as the field writes it. */
  readonly min?: string;
  readonly max?: string;
}) {
  const range = rangeInAddress();
  const [isOpen, setOpen] = useState(false);
  const isShown = isOpen || range !== null;
  const apply = (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    setQuery({ from: String(fields.get("from")), to: String(fields.get("to") ?? ""), [parameter]: "" });
  };
  const choose = (chosen: string) => {
    setOpen(chosen === OWN);
    if (chosen !== OWN) setQuery({ [parameter]: chosen, from: "", to: "" });
  };
  const end = (name: "from" | "to") => (
    <Field name={TEXTS.app.rangeEnds[name]}>
      <input
        name={name}
        type={type}
        required={name === "from"}
        min={min}
        max={max}
        value={range?.[name] ?? ""}
      />
    </Field>
  );
  return (
    <>
      <Choice<string>
        label={label}
        values={[...spans, OWN]}
        titles={{ ...titles, [OWN]: TEXTS.app.ownRange }}
        value={isShown ? OWN : span}
        onChange={choose}
      />
      {isShown && (
        <form class="range-ends" aria-label={label} onSubmit={apply} key={`${range?.from} ${range?.to}`}>
          {end("from")}
          {end("to")}
          <button type="submit" class="primary">{TEXTS.app.showRange}</button>
        </form>
      )}
    </>
  );
}
