import { useState } from "preact/hooks";
import { Field } from "../../components/action_form.tsx";
import { query, setQuery } from "../../navigation.ts";
import { session } from "../../session_state.ts";
import { TEXTS } from "../../texts.ts";

const MAIN_NAMES = ["q", "account", "key", "model", "provider", "status", "code", "from", "to"] as const;
const FURTHER_NAMES = [
  "endpoint",
  "kind",
  "end",
  "dropped",
  "client_address",
  "min_duration_ms",
  "min_cost",
] as const;
const NAMES = [...MAIN_NAMES, ...FURTHER_NAMES] as const;
type Name = (typeof NAMES)[number];
const ENDS = ["completed", "cut", "left"] as const;
const STATUSES = ["error", "2xx", "4xx", "5xx", "429"] as const;

/** The filters in the address, as the API reads them. */
export function activeFilters(): Record<string, string> {
  const filters: Record<string, string> = {};
  for (const name of NAMES) {
    const value = query.value.get(name);
    if (value) filters[name] = name === "from" || name === "to" ? secondsOf(value) : value;
  }
  return filters;
}

/** A time of the form in the viewer's zone as Unix seconds. Anything else is left to the API. */
function secondsOf(local: string): string {
  const at = Date.parse(local);
  return /^\d{4}-\d\d-\d\dT/.test(local) && !Number.isNaN(at) ? String(Math.floor(at / 1_000)) : local;
}

/** The filters, which are kept in the address, so that a list can be bookmarked. Phones show their form on demand. */
export function Filters() {
  const [isOpen, setOpen] = useState(false);
  const count = Object.keys(activeFilters()).length;
  return (
    <search>
      <button type="button" class="filters-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {TEXTS.requests.filtersButton(count)}
      </button>
      <FilterForm isOpen={isOpen} />
    </search>
  );
}

function FilterForm({ isOpen }: {
  /** Whether it is shown where the window is narrow. */
  readonly isOpen: boolean;
}) {
  const apply = (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    setQuery(Object.fromEntries(NAMES.map((name) => [name, String(fields.get(name) ?? "").trim()])));
  };
  const clear = () => setQuery(Object.fromEntries(NAMES.map((name) => [name, ""])));
  const value = (name: Name) => query.value.get(name) ?? "";
  const texts = (name: Name, title: string, example = "") => (
    <Field name={title}>
      <input name={name} type="text" value={value(name)} maxLength={200} placeholder={example} />
    </Field>
  );
  const times = (name: "from" | "to", title: string) => (
    <Field name={title}>
      <input name={name} type="datetime-local" value={value(name)} />
    </Field>
  );
  const status = value("status");
  const statuses = status === "" || STATUSES.some((each) => each === status) ? STATUSES : [...STATUSES, status];
  return (
    <form
      class={isOpen ? "filters card open" : "filters card"}
      aria-label={TEXTS.requests.filters}
      key={query.value.toString()}
      onSubmit={apply}
    >
      {texts("q", TEXTS.requests.text)}
      {session.value?.kind === "operator" && texts("account", TEXTS.requests.account)}
      {session.value?.kind === "operator" && texts("key", TEXTS.requests.key)}
      {texts("model", TEXTS.requests.model)}
      {texts("provider", TEXTS.requests.provider)}
      <label class="field">
        <span>{TEXTS.requests.status}</span>
        <select name="status" value={status}>
          <option value="">{TEXTS.requests.anyStatus}</option>
          {statuses.map((each) => (
            <option key={each} value={each}>{each === "error" ? TEXTS.requests.errorStatus : each}</option>
          ))}
        </select>
      </label>
      {texts("code", TEXTS.requests.code)}
      {times("from", TEXTS.requests.from)}
      {times("to", TEXTS.requests.to)}
      <details class="further" open={FURTHER_NAMES.some((name) => value(name) !== "")}>
        <summary>{TEXTS.requests.furtherFilters}</summary>
        <div class="filter-fields">
          {texts("endpoint", TEXTS.requests.endpoint, "/v1/chat/completions")}
          {texts("kind", TEXTS.requests.kind, "text")}
          <label class="field">
            <span>{TEXTS.requests.end}</span>
            <select name="end" value={value("end")}>
              <option value="">{TEXTS.requests.anyStatus}</option>
              {ENDS.map((each) => <option key={each} value={each}>{TEXTS.requests.ends[each]}</option>)}
            </select>
          </label>
          {texts("dropped", TEXTS.requests.droppedField, "logit_bias")}
          {texts("client_address", TEXTS.requests.address)}
          {texts("min_duration_ms", TEXTS.requests.minDuration, "1000")}
          {texts("min_cost", TEXTS.requests.minCost, "0.01")}
        </div>
      </details>
      <div class="actions">
        <button type="submit" class="primary">{TEXTS.requests.search}</button>
        <button type="button" onClick={clear}>{TEXTS.requests.clear}</button>
      </div>
    </form>
  );
}
