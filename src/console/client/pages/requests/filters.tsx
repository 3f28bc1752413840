import { RANGED_FACTS } from "../../../../observers/request_log/request_log.ts";
import { ChoiceFilter, FilterForm, secondsOf, TextFilter, TimeFilter } from "../../components/filter_form.tsx";
import { query } from "../../navigation.ts";
import { session } from "../../session_state.ts";
import { TEXTS } from "../../texts.ts";

/** The parameter of the address for requests of the playground: hidden by default, shown, or the only ones. */
const PLAYGROUND = "playground";
const MAIN_NAMES = ["q", "account", "key", "model", "provider", "status", "code", "from", "to"];
const FURTHER_NAMES = [
  "protocol",
  "endpoint",
  "method",
  "kind",
  "end",
  "refusal_limit",
  "refusal_holder",
  "attempt_code",
  "attempt_status",
  "dropped",
  "client_address",
  "session",
  "is_estimated",
  PLAYGROUND,
  ...RANGED_FACTS.flatMap((fact) => [`min_${fact}`, `max_${fact}`]),
];
const NAMES = [...MAIN_NAMES, ...FURTHER_NAMES];
const PROTOCOLS = ["default", "message", "content", "admin"];
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const ENDS = ["completed", "cut", "left"];
const LIMITS = ["rpm", "tpm", "concurrency", "budget"];
const HOLDERS = ["key", "account"];
const STATUSES = ["error", "2xx", "4xx", "5xx", "429"];

/** The filters in the address, as the API reads them. */
export function activeFilters(): Record<string, string> {
  const filters: Record<string, string> = {};
  for (const name of NAMES) {
    const value = query.value.get(name);
    if (value && name !== PLAYGROUND) filters[name] = name === "from" || name === "to" ? secondsOf(value) : value;
  }
  return filters;
}

/**
 * Which requests of the playground are shown, as the API reads it. Operators try things there, between the requests of
 * customers. The owner of a key sees all of the key's requests.
 */
export function playgroundFilter(): Record<string, string> {
  if (session.value?.kind !== "operator") return {};
  const value = query.value.get(PLAYGROUND);
  if (value === "shown") return {};
  return { is_from_console: String(value === "only") };
}

/** The filters of the list: every fact of a request. */
export function Filters() {
  const texts = TEXTS.requests;
  const statusTitles = { error: texts.errorStatus };
  return (
    <FilterForm label={texts.filters} names={NAMES}>
      <TextFilter parameter="q" title={texts.text} />
      {session.value?.kind === "operator" && <TextFilter parameter="account" title={texts.account} />}
      {session.value?.kind === "operator" && <TextFilter parameter="key" title={texts.key} />}
      <TextFilter parameter="model" title={texts.model} />
      <TextFilter parameter="provider" title={texts.provider} />
      <OneOf parameter="status" title={texts.status} values={STATUSES} titles={statusTitles} />
      <TextFilter parameter="code" title={texts.code} />
      <TimeFilter parameter="from" title={texts.from} />
      <TimeFilter parameter="to" title={texts.to} />
      <details class="further" open={FURTHER_NAMES.some((name) => query.value.has(name))}>
        <summary>{texts.furtherFilters}</summary>
        <div class="filter-fields">
          <OneOf parameter="protocol" title={texts.protocol} values={PROTOCOLS} />
          <TextFilter parameter="endpoint" title={texts.endpoint} example="/v1/chat/completions" />
          <OneOf parameter="method" title={texts.method} values={METHODS} />
          <TextFilter parameter="kind" title={texts.kind} example="text" />
          <OneOf parameter="end" title={texts.end} values={ENDS} titles={texts.ends} />
          <OneOf parameter="refusal_limit" title={texts.refusalLimit} values={LIMITS} />
          <OneOf parameter="refusal_holder" title={texts.refusalHolder} values={HOLDERS} titles={texts.holders} />
          <TextFilter parameter="attempt_code" title={texts.attemptCode} example="timeout" />
          <OneOf parameter="attempt_status" title={texts.attemptStatus} values={STATUSES} titles={statusTitles} />
          <TextFilter parameter="dropped" title={texts.droppedField} example="logit_bias" />
          <TextFilter parameter="client_address" title={texts.address} />
          <TextFilter parameter="session" title={texts.session} />
          <OneOf parameter="is_estimated" title={texts.isEstimated} values={["true", "false"]} titles={texts.answers} />
          {session.value?.kind === "operator" && (
            <ChoiceFilter
              parameter={PLAYGROUND}
              title={texts.playground}
              any={texts.playgrounds.hidden}
              values={["shown", "only"]}
              titles={texts.playgrounds}
            />
          )}
          {RANGED_FACTS.map((fact) => <RangeFilter key={fact} fact={fact} title={texts.ranges[fact]} />)}
        </div>
      </details>
    </FilterForm>
  );
}

function OneOf(props: Omit<Parameters<typeof ChoiceFilter>[0], "any">) {
  return <ChoiceFilter {...props} any={TEXTS.requests.anyStatus} />;
}

/** Two fields of numbers, side by side. */
function RangeFilter({ fact, title }: { readonly fact: string; readonly title: string }) {
  const end = (side: "min" | "max") => (
    <input
      name={`${side}_${fact}`}
      type="text"
      inputMode="decimal"
      aria-label={TEXTS.requests.rangeEnds[side](title)}
      placeholder={TEXTS.requests.rangeEnd[side]}
      value={query.value.get(`${side}_${fact}`) ?? ""}
      maxLength={20}
    />
  );
  return (
    <div class="field">
      <span>{title}</span>
      <div class="range">
        {end("min")}
        {end("max")}
      </div>
    </div>
  );
}
