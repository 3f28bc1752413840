import { useState } from "preact/hooks";
import { PageHead } from "../../components/page_head.tsx";
import { TextField } from "../../components/text_field.tsx";
import { hrefOf, navigate, query } from "../../navigation.ts";
import { TEXTS } from "../../texts.ts";
import type { SettingFormProps } from "./form_props.ts";
import { SettingForm } from "./setting_form.tsx";

const texts = TEXTS.forms.alias;

/** Adds another name of a model. */
export function AliasForm({ config, onChanged }: SettingFormProps) {
  const [name, setName] = useState("");
  const [model, setModel] = useState(query.value.get("model") ?? "");
  const alias = name.trim();
  return (
    <>
      <p class="back">
        <a href={hrefOf("models")}>← {TEXTS.models.back}</a>
      </p>
      <PageHead title={texts.title} />
      <SettingForm
        config={config}
        setting={{
          section: "aliases",
          name: alias,
          before: undefined,
          after: model.trim(),
          inFile: { aliases: { [alias]: model.trim() } },
        }}
        onApplied={() => {
          onChanged();
          navigate(hrefOf(`models/${encodeURIComponent(model.trim())}`));
        }}
      >
        <TextField title={texts.name} value={name} isRequired hint={texts.nameHint} onInput={setName} />
        <TextField
          title={texts.model}
          value={model}
          isRequired
          suggestions={Object.keys(config.settings.models ?? {})}
          onInput={setModel}
        />
      </SettingForm>
    </>
  );
}
