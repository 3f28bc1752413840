import { Field } from "../../components/action_form.tsx";
import { query, setQuery } from "../../navigation.ts";
import { session } from "../../session_state.ts";
import { TEXTS } from "../../texts.ts";

const NAMES = ["q", "account", "key", "model", "provider", "status", "code", "from", "to"] as const;
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

/** The form of the filters. They are kept in the address, so that a list can be bookmarked. */
export function Filters() {
  const apply = (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    setQuery(Object.fromEntries(NAMES.map((name) => [name, String(fields.get(name) ?? "").trim()])));
  };
  const clear = () => setQuery(Object.fromEntries(NAMES.map((name) => [name, ""])));
  const value = (name: (typeof NAMES)[number]) => query.value.get(name) ?? "";
  const texts = (name: (typeof NAMES)[number], title: string) => (
    <Field name={title}>
      <input name={name} type="text" value={value(name)} maxLength={200} />
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
    <search>
      <form class="filters card" aria-label={TEXTS.requests.filters} key={query.value.toString()} onSubmit={apply}>
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
        <div class="actions">
          <button type="submit" class="primary">{TEXTS.requests.search}</button>
          <button type="button" onClick={clear}>{TEXTS.requests.clear}</button>
        </div>
      </form>
    </search>
  );
}
