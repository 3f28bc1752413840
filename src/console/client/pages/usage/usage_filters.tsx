import { ChoiceFilter, FilterForm, TextFilter } from "../../components/filter_form.tsx";
import { query } from "../../navigation.ts";
import { session } from "../../session_state.ts";
import { TEXTS } from "../../texts.ts";

const NAMES = {
  operator: ["account", "key", "model", "provider", "kind"],
  caller: ["model", "provider", "kind"],
} as const;
/** Source: docs/api/money.md#usage. */
const KINDS = [
  "text",
  "image",
  "video",
  "speech",
  "transcription",
  "embedding",
  "rerank",
  "moderation",
  "cache",
] as const;

/** The filters in the address, as the API reads them. */
export function usageFilters(): Record<string, string> {
  const names: readonly string[] = NAMES[session.value?.kind ?? "caller"];
  return Object.fromEntries(names.flatMap((name) => {
    const value = query.value.get(name);
    return value ? [[name, value]] : [];
  }));
}

/** What the usage is limited to. */
export function UsageFilters() {
  const names = NAMES[session.value?.kind ?? "caller"];
  return (
    <FilterForm label={TEXTS.usage.filters} names={names}>
      {names.map((name) =>
        name === "kind"
          ? (
            <ChoiceFilter
              key={name}
              parameter={name}
              title={TEXTS.usage.dimensions.kind}
              any={TEXTS.usage.anyKind}
              values={KINDS}
            />
          )
          : <TextFilter key={name} parameter={name} title={TEXTS.usage.dimensions[name]} />
      )}
    </FilterForm>
  );
}
