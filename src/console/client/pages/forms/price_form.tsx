import { useState } from "preact/hooks";
import { Field } from "../../components/action_form.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { TextField } from "../../components/text_field.tsx";
import { hrefOf, navigate } from "../../navigation.ts";
import { TEXTS } from "../../texts.ts";
import { editedValue } from "../configuration/config_change.ts";
import { isJsonObject } from "../configuration/merge_patch.ts";
import type { SettingFormProps } from "./form_props.ts";
import {
  hasConditions,
  newPrice,
  otherPrices,
  type PriceField,
  priceFieldsOf,
  secondFieldsOf,
  withPrices,
  withSecondPrices,
} from "./price_entry.ts";
import { SettingForm } from "./setting_form.tsx";

const texts = TEXTS.forms.price;

/** Changes the prices of a model. */
export function PriceForm({ config, subject: id, onChanged }: SettingFormProps) {
  const entry = editedValue("models", config.settings.models?.[id]?.value);
  const [fields, setFields] = useState<readonly PriceField[]>(isJsonObject(entry) ? priceFieldsOf(entry) : []);
  const [seconds, setSeconds] = useState(isJsonObject(entry) ? secondFieldsOf(entry) : []);
  const page = hrefOf(`models/${encodeURIComponent(id)}`);
  if (!isJsonObject(entry)) {
    return <EmptyState title={TEXTS.models.missingTitle}>{TEXTS.models.missing}</EmptyState>;
  }
  const after = withSecondPrices(withPrices(entry, fields), seconds);
  const set = (name: string, text: string) =>
    setFields(fields.map((field) => field.name === name ? { ...field, text } : field));
  return (
    <>
      <p class="back">
        <a href={page}>← {id}</a>
      </p>
      <PageHead title={texts.title(id)} />
      <SettingForm
        config={config}
        setting={{
          section: "models",
          name: id,
          before: entry,
          after,
          inFile: { models: [{ id, pricing: after.pricing, ...seconds.length > 0 && { video: after.video } }] },
        }}
        onApplied={() => {
          onChanged();
          navigate(page);
        }}
      >
        <p class="hint">{texts.hint}</p>
        <div class="field-row">
          {fields.map(({ name, isPerMillion, text }) => (
            <TextField
              key={name}
              title={isPerMillion ? texts.perMillion(name) : texts.perOne(name)}
              value={text}
              inputMode="decimal"
              onInput={(value) => set(name, value)}
            />
          ))}
          {seconds.map(({ name, text }) => (
            <TextField
              key={`video ${name}`}
              title={texts.perSecond(TEXTS.forms.model.secondOf(name))}
              value={text}
              isRequired
              inputMode="decimal"
              onInput={(value) => setSeconds(seconds.map((each) => each.name === name ? { name, text: value } : each))}
            />
          ))}
        </div>
        <NewPrice fields={fields} onAdd={(field) => setFields([...fields, field])} />
        {hasConditions(entry) && <p class="hint">{texts.conditions}</p>}
      </SettingForm>
    </>
  );
}

function NewPrice({ fields, onAdd }: {
  readonly fields: readonly PriceField[];
  readonly onAdd: (field: PriceField) => void;
}) {
  const names = otherPrices(fields);
  const add = (wanted: string) => {
    const name = names.find((each) => each === wanted);
    if (name !== undefined) onAdd(newPrice(name));
  };
  return (
    <Field name={texts.add}>
      <select value="" onChange={(event) => add(event.currentTarget.value)}>
        <option value="">{texts.choose}</option>
        {names.map((each) => <option key={each} value={each}>{each}</option>)}
      </select>
    </Field>
  );
}
