import { useState } from "preact/hooks";
import { change } from "../../api.ts";
import { ActionForm, Field } from "../../components/action_form.tsx";
import { Choice } from "../../components/choice.tsx";
import { Instant } from "../../components/instant.tsx";
import { canWrite } from "../../session_state.ts";
import type { ProviderService } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

const STATES = ["on", "drain", "off"] as const;
const MAX_REASON = 200;
const texts = TEXTS.providers;

/** Whether a provider gets requests, who has set that and why, and the switch for operators who may write. */
export function ServiceSwitch({ name, service, onChanged }: {
  readonly name: string;
  readonly service: ProviderService;
  readonly onChanged: () => void;
}) {
  const [chosen, setChosen] = useState(service.state);
  const address = `/admin/v1/providers/${encodeURIComponent(name)}/state`;
  const submit = async (fields: FormData) => {
    const reason = String(fields.get("reason") ?? "").trim();
    await change("PUT", address, { state: chosen, ...reason !== "" && { reason } });
    onChanged();
  };
  const reset = async () => {
    await change("DELETE", address);
    onChanged();
  };
  return (
    <div class="service">
      <div class="service-head">
        <span class="muted">{texts.service}</span>
        {canWrite()
          ? <Choice label={texts.service} values={STATES} titles={texts.services} value={chosen} onChange={setChosen} />
          : <span>{texts.services[service.state]}</span>}
      </div>
      <SetBy service={service} />
      {chosen !== service.state && (
        <>
          <p class="hint">{texts.serviceHints[chosen]}</p>
          <ActionForm submit={texts.setService[chosen]} onSubmit={submit} isDangerous={chosen === "off"} isKept>
            <Field name={TEXTS.forms.optional(texts.reason)}>
              <input name="reason" maxLength={MAX_REASON} placeholder={texts.reasonHint} autocomplete="off" />
            </Field>
          </ActionForm>
        </>
      )}
      {canWrite() && service.by !== null && chosen === service.state && (
        <ActionForm submit={texts.resetService} onSubmit={reset} isPlain />
      )}
    </div>
  );
}

function SetBy({ service: { by, since, reason } }: { readonly service: ProviderService }) {
  if (by === null && since === null) return null;
  return (
    <p class="hint">
      {by !== null && texts.serviceBy(by)} {since !== null && (
        <>
          {texts.serviceSince} <Instant at={since} />
        </>
      )}
      {reason && (
        <>
          : <strong>{reason}</strong>
        </>
      )}
    </p>
  );
}
