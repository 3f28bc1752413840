import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { query, setQuery } from "../navigation.ts";
import { TEXTS } from "../texts.ts";
import { Field } from "./action_form.tsx";

/**
 * A form of filters that are kept in the address, so that what they show can be bookmarked. Phones show it on demand.
 */
export function FilterForm({ label, names, children }: {
  /** For screen readers. */
  readonly label: string;
  /** The parameters of the address that its fields set. */
  readonly names: readonly string[];
  /** Its fields. */
  readonly children: ComponentChildren;
}) {
  const [isOpen, setOpen] = useState(false);
  const count = names.filter((name) => query.value.get(name)).length;
  const apply = (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    setQuery(Object.fromEntries(names.map((name) => [name, String(fields.get(name) ?? "").trim()])));
  };
  const clear = () => setQuery(Object.fromEntries(names.map((name) => [name, ""])));
  return (
    <search>
      <button type="button" class="filters-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {TEXTS.app.filtersButton(count)}
      </button>
      <form
        class={isOpen ? "filters card open" : "filters card"}
        aria-label={label}
        key={query.value.toString()}
        onSubmit={apply}
      >
        {children}
        <div class="actions">
          <button type="submit" class="primary">{TEXTS.app.applyFilters}</button>
          <button type="button" onClick={clear}>{TEXTS.app.clearFilters}</button>
        </div>
      </form>
    </search>
  );
}

/** A filter that is typed, with suggestions of the browser. */
export function TextFilter({ parameter, title, example = "", suggestions = [] }: {
  /** Of the address. */
  readonly parameter: string;
  readonly title: string;
  readonly example?: string;
  readonly suggestions?: readonly string[];
}) {
  const list = useId();
  return (
    <>
      <Field name={title}>
        <input
          name={parameter}
          type="text"
          value={query.value.get(parameter) ?? ""}
          maxLength={200}
          placeholder={example}
          list={suggestions.length === 0 ? undefined : list}
          autocomplete="off"
        />
      </Field>
      {suggestions.length > 0 && (
        <datalist id={list}>{suggestions.map((each) => <option key={each} value={each} />)}</datalist>
      )}
    </>
  );
}

/** A filter that is chosen. A value in the address that is not among its values can be kept. */
export function ChoiceFilter({ parameter, title, any, values, titles = {} }: {
  /** Of the address. */
  readonly parameter: string;
  readonly title: string;
  /** The text of no choice. */
  readonly any: string;
  readonly values: readonly string[];
  /** The texts of values. Default: the values themselves. */
  readonly titles?: Readonly<Record<string, string>>;
}) {
  const value = query.value.get(parameter) ?? "";
  const shown = value === "" || values.includes(value) ? values : [...values, value];
  return (
    <Field name={title}>
      <select name={parameter} value={value}>
        <option value="">{any}</option>
        {shown.map((each) => <option key={each} value={each}>{titles[each] ?? each}</option>)}
      </select>
    </Field>
  );
}

/** A filter that is a time in the viewer's zone. */
export function TimeFilter({ parameter, title }: { readonly parameter: string; readonly title: string }) {
  return (
    <Field name={title}>
      <input name={parameter} type="datetime-local" value={query.value.get(parameter) ?? ""} />
    </Field>
  );
}

/** A time of the form in the viewer's zone as Unix seconds. Anything else is left to the API. */
export function secondsOf(local: string): string {
  const at = Date.parse(local);
  return /^\d{4}-\d\d-\d\dT/.test(local) && !Number.isNaN(at) ? String(Math.floor(at / 1_000)) : local;
}
