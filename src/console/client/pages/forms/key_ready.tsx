import { useState } from "preact/hooks";
import { Field } from "../../components/action_form.tsx";
import { Card } from "../../components/card.tsx";
import { Choice } from "../../components/choice.tsx";
import { CopyButton } from "../../components/copy_button.tsx";
import { readModels } from "../../models.ts";
import { hrefOf } from "../../navigation.ts";
import { usePolled } from "../../lists/polled.ts";
import { session } from "../../session_state.ts";
import { TEXTS } from "../../texts.ts";
import { type ClientName, CLIENTS, clientSnippet, keyCommand } from "./client_snippets.ts";
import { usableModels } from "./usable_models.ts";

const texts = TEXTS.forms.key;

/** A key that was just created. */
export interface NewKey {
  readonly account: string;
  readonly secret: string;
  /** The models that it may use, with stars; null for all. */
  readonly models: readonly string[] | null;
}

/** A new key with its secret, and a first request by each client. */
export function KeyReady({ of: { account, secret, models: allowed }, onAnother }: {
  readonly of: NewKey;
  readonly onAnother: () => void;
}) {
  const [client, setClient] = useState<ClientName>("curl");
  const [chosen, setChosen] = useState("");
  const { data: models } = usePolled("models", readModels);
  const usable = usableModels(models ?? [], allowed);
  const model = usable.includes(chosen) ? chosen : usable[0] ?? "";
  const snippet = () => clientSnippet(client, { model, baseUrl: session.value?.base_url ?? "" });
  return (
    <div class="grid form-grid">
      <Card title={texts.createdTitle} isWide>
        <div class="notice good" role="status">
          <p>
            <strong>{TEXTS.accounts.newKey}</strong> {TEXTS.app.shownOnce}
          </p>
          <p class="secret">
            <code>{secret}</code>
          </p>
          <div class="actions">
            <CopyButton text={() => secret} />
            <button type="button" class="small" onClick={onAnother}>{texts.another}</button>
            <a class="button small" href={hrefOf(`accounts/${encodeURIComponent(account)}`)}>{texts.open}</a>
          </div>
        </div>
      </Card>
      {models !== null && (
        <Card title={texts.use} isWide>
          <div class="use-key">
            <Choice
              label={texts.client}
              values={CLIENTS}
              titles={texts.clients}
              value={client}
              onChange={setClient}
            />
            {usable.length > 0 && (
              <Field name={texts.model}>
                <select value={model} onChange={(event) => setChosen(event.currentTarget.value)}>
                  {usable.map((each) => <option key={each} value={each}>{each}</option>)}
                </select>
              </Field>
            )}
          </div>
          {usable.length === 0 ? <p class="notice">{texts.noModels}</p> : (
            <>
              <Step title={texts.setKey} text={keyCommand(secret)} />
              <Step title={client === "codex" ? texts.codexFile : texts.run} text={snippet()} />
            </>
          )}
        </Card>
      )}
    </div>
  );
}

function Step({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <div class="panel">
      <div class="panel-head">
        <span class="hint">{title}</span>
        <CopyButton text={() => text} />
      </div>
      <pre tabIndex={0} aria-label={title}>{text}</pre>
    </div>
  );
}
