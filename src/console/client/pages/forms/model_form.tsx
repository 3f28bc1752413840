import { useState } from "preact/hooks";
import { Field } from "../../components/action_form.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { TextField } from "../../components/text_field.tsx";
import { hrefOf, navigate, query } from "../../navigation.ts";
import { TEXTS } from "../../texts.ts";
import { formHref } from "./form_href.ts";
import type { SettingFormProps } from "./form_props.ts";
import { defaultId, idOf, modelEntry, type ModelFields } from "./model_entry.ts";
import { Abilities, type PartProps, Prices } from "./model_parts.tsx";
import { EMPTY_SECTION } from "./model_sections.ts";
import { SettingForm } from "./setting_form.tsx";

const texts = TEXTS.forms.model;

const EMPTY: Omit<ModelFields, "provider"> = {
  ...EMPTY_SECTION,
  vendorModel: "",
  id: "",
  kind: "text",
  takesImages: false,
  context: "",
  maxOutput: "",
  isFree: false,
  prices: {},
};

/** Adds a model of a provider, with its prices. */
export function ModelForm({ config, onChanged }: SettingFormProps) {
  const providers = Object.keys(config.settings.providers ?? {});
  const wanted = query.value.get("provider") ?? "";
  const [typed, setTyped] = useState<ModelFields>({
    ...EMPTY,
    provider: providers.includes(wanted) ? wanted : providers[0] ?? "",
  });
  const set = (changes: Partial<ModelFields>) => setTyped({ ...typed, ...changes });
  const id = idOf(typed);
  const entry = modelEntry(typed);
  return (
    <>
      <p class="back">
        <a href={hrefOf("models")}>← {TEXTS.models.back}</a>
      </p>
      <PageHead title={texts.title} />
      {providers.length === 0
        ? (
          <EmptyState title={TEXTS.providers.emptyTitle}>
            {texts.noProviders} <a href={formHref("providers", "provider")}>{TEXTS.forms.provider.add}</a>
          </EmptyState>
        )
        : (
          <SettingForm
            config={config}
            setting={{
              section: "models",
              name: id,
              before: undefined,
              after: entry,
              inFile: { models: [{ id, ...entry }] },
            }}
            onApplied={() => {
              onChanged();
              navigate(hrefOf(`models/${encodeURIComponent(id)}`));
            }}
          >
            <Names typed={typed} set={set} providers={providers} />
            <Abilities typed={typed} set={set} />
            <Prices typed={typed} set={set} />
            <p class="hint">
              {texts.others} <a href={hrefOf("configuration")}>{TEXTS.forms.asJson}</a>
            </p>
          </SettingForm>
        )}
    </>
  );
}

function Names({ typed, set, providers }: PartProps & { readonly providers: readonly string[] }) {
  return (
    <>
      <Field name={texts.provider}>
        <select value={typed.provider} onChange={(event) => set({ provider: event.currentTarget.value })}>
          {providers.map((each) => <option key={each} value={each}>{each}</option>)}
        </select>
      </Field>
      <TextField
        title={texts.vendorModel}
        value={typed.vendorModel}
        isRequired
        hint={texts.vendorModelHint}
        onInput={(vendorModel) => set({ vendorModel })}
      />
      <TextField
        title={texts.id}
        value={typed.id}
        placeholder={defaultId(typed)}
        hint={texts.idHint}
        onInput={(id) => set({ id })}
      />
    </>
  );
}
