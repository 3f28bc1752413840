import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
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

/** A filter that is typed. */
export function TextFilter({ parameter, title, example = "" }: {
  /** Of the address. */
  readonly parameter: string;
  readonly title: string;
  readonly example?: string;
}) {
  return (
    <Field name={title}>
      <input
        name={parameter}
        type="text"
        value={query.value.get(parameter) ?? ""}
        maxLength={200}
        placeholder={example}
      />
    </Field>
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
