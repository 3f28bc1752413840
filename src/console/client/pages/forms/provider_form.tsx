import { useState } from "preact/hooks";
import { change } from "../../api.ts";
import { Field } from "../../components/action_form.tsx";
import { Card } from "../../components/card.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { TestResults } from "../../components/test_results.tsx";
import { TextField } from "../../components/text_field.tsx";
import { number } from "../../format.ts";
import { readModels } from "../../models.ts";
import { hrefOf } from "../../navigation.ts";
import { usePolled } from "../../lists/polled.ts";
import type { ProviderTest } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { settingHref } from "../configuration/setting_href.ts";
import { formHref } from "./form_href.ts";
import type { SettingFormProps } from "./form_props.ts";
import {
  freeName,
  needsOf,
  OTHER_VENDOR,
  providerEntry,
  type ProviderFields,
  providerInFile,
  VENDOR_GROUPS,
  type VendorGroup,
} from "./provider_entry.ts";
import { SettingForm } from "./setting_form.tsx";

const texts = TEXTS.forms.provider;
const GROUPS = Object.keys(VENDOR_GROUPS) as readonly VendorGroup[];
const EMPTY: ProviderFields = { vendor: "openai", name: "", key: "", secretKey: "", address: "" };

/** Adds a provider, tests it, and leads to its models. */
export function ProviderForm({ config, onChanged }: SettingFormProps) {
  const [typed, setTyped] = useState(EMPTY);
  const [added, setAdded] = useState<string | null>(null);
  if (added !== null) return <Added name={added} />;
  const name = typed.name.trim() === ""
    ? freeName(typed.vendor, Object.keys(config.settings.providers ?? {}))
    : typed.name.trim();
  const set = (changes: Partial<ProviderFields>) => setTyped({ ...typed, ...changes });
  return (
    <>
      <p class="back">
        <a href={hrefOf("providers")}>← {TEXTS.providers.title}</a>
      </p>
      <PageHead title={texts.title} />
      <SettingForm
        config={config}
        setting={{
          section: "providers",
          name,
          before: undefined,
          after: providerEntry(typed),
          inFile: { providers: { [name]: providerInFile(typed) } },
        }}
        onApplied={() => {
          setAdded(name);
          onChanged();
        }}
      >
        <VendorChoice
          vendor={typed.vendor}
          onChange={(vendor) => set({ vendor, key: "", secretKey: "", address: "" })}
        />
        <TextField
          title={texts.name}
          value={typed.name}
          placeholder={name}
          hint={texts.nameHint}
          onInput={(text) => set({ name: text })}
        />
        <Credentials typed={typed} set={set} />
        <p class="hint">
          {texts.clouds} <a href={settingHref("providers", "vertex")}>{texts.clouds1}</a>,{" "}
          <a href={settingHref("providers", "bedrock")}>{texts.clouds2}</a>
        </p>
      </SettingForm>
    </>
  );
}

function VendorChoice({ vendor, onChange }: {
  readonly vendor: string;
  readonly onChange: (vendor: string) => void;
}) {
  return (
    <Field name={texts.vendor}>
      <select name="vendor" value={vendor} onChange={(event) => onChange(event.currentTarget.value)}>
        {GROUPS.map((group) => (
          <optgroup key={group} label={texts.groups[group]}>
            {VENDOR_GROUPS[group].map((each) => (
              <option key={each} value={each}>{each === OTHER_VENDOR ? texts.other : each}</option>
            ))}
          </optgroup>
        ))}
      </select>
    </Field>
  );
}

function Credentials({ typed, set }: {
  readonly typed: ProviderFields;
  readonly set: (changes: Partial<ProviderFields>) => void;
}) {
  const { keyName, needsKey, secretKeyName, needsAddress, address } = needsOf(typed.vendor);
  const { optional } = TEXTS.forms;
  return (
    <>
      <TextField
        title={secretKeyName !== null ? texts.accessKey : needsKey ? texts.key : optional(texts.key)}
        type="password"
        value={typed.key}
        isRequired={needsKey}
        hint={texts.keyHint(keyName)}
        onInput={(key) => set({ key })}
      />
      {secretKeyName !== null && (
        <TextField
          title={texts.secretKey}
          type="password"
          value={typed.secretKey}
          isRequired
          onInput={(secretKey) => set({ secretKey })}
        />
      )}
      <TextField
        title={needsAddress ? texts.address : optional(texts.address)}
        value={typed.address}
        isRequired={needsAddress}
        inputMode="url"
        placeholder={address}
        hint={texts.addressHint}
        onInput={(text) => set({ address: text })}
      />
    </>
  );
}

/** A provider that was just added: what its vendor answers, and the models that it serves. */
function Added({ name }: { readonly name: string }) {
  const test = usePolled(
    `test ${name}`,
    () => change<ProviderTest>("POST", `/admin/v1/providers/${encodeURIComponent(name)}/test`),
  );
  const { data: models } = usePolled(`models of ${name}`, readModels);
  const count = models?.filter(({ providers = [] }) => providers.some(({ provider }) => provider === name)).length;
  return (
    <>
      <p class="back">
        <a href={hrefOf("providers")}>← {TEXTS.providers.title}</a>
      </p>
      <PageHead title={name} />
      <div class="grid">
        <Card title={texts.test}>
          {test.data === null && test.error === null && (
            <>
              <p class="hint">{texts.tested}</p>
              <Loading />
            </>
          )}
          {test.error !== null && <ErrorNotice error={test.error} />}
          {test.data !== null && <TestResults results={test.data.data} />}
        </Card>
        <Card title={TEXTS.forms.nextTitle}>
          {count !== undefined && <p>{count === 0 ? texts.noModels : texts.models(number(count))}</p>}
          <p class="actions">
            <a class={count === 0 ? "button primary" : "button"} href={formHref("models", "model", { provider: name })}>
              {texts.addModel}
            </a>
            <a class="button" href={hrefOf(`providers/${encodeURIComponent(name)}`)}>{texts.open}</a>
          </p>
        </Card>
      </div>
    </>
  );
}
