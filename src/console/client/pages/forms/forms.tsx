import type { FunctionComponent } from "preact";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import { useConfig } from "../configuration/use_config.ts";
import { AliasForm } from "./alias_form.tsx";
import type { FormProps, SettingFormProps } from "./form_props.ts";
import { KeyForm } from "./key_form.tsx";
import { ModelForm } from "./model_form.tsx";
import { PriceForm } from "./price_form.tsx";
import { ProviderForm } from "./provider_form.tsx";

const SETTING_FORMS: Readonly<Record<Exclude<FormProps["form"], "key">, FunctionComponent<SettingFormProps>>> = {
  provider: ProviderForm,
  model: ModelForm,
  alias: AliasForm,
  price: PriceForm,
};

/** The forms for what operators do daily. JSON stays as the way to all other settings. */
export function Forms({ form, subject }: FormProps) {
  return form === "key" ? <KeyForm account={subject} /> : <SettingForms form={form} subject={subject} />;
}

function SettingForms({ form, subject }: FormProps & { readonly form: keyof typeof SETTING_FORMS }) {
  const { data, error, reload } = useConfig();
  if (error !== null && data === null) return <ErrorNotice error={error} />;
  if (data === null) return <Loading />;
  const Form = SETTING_FORMS[form];
  return <Form config={data} subject={subject} onChanged={reload} />;
}
