import { useState } from "preact/hooks";
import { change } from "../../api.ts";
import { ActionForm, Field } from "../../components/action_form.tsx";
import { Badge } from "../../components/badge.tsx";
import { Card } from "../../components/card.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { readActiveAccounts } from "../../active_accounts.ts";
import { hrefOf } from "../../navigation.ts";
import { usePolled } from "../../lists/polled.ts";
import type { Account } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { type LimitTexts, newFields, textsIn } from "./limit_fields.ts";
import { LimitInputs } from "./limit_inputs.tsx";
import { KeyReady, type NewKey } from "./key_ready.tsx";
import { keyLines } from "./key_lines.ts";

const texts = TEXTS.forms.key;

/** Creates an API key in steps: its account and limits, a review, and a first request by each client. */
export function KeyForm({ account: wanted }: {
  /** Empty to choose one. */
  readonly account: string;
}) {
  const { data: accounts, error } = usePolled("payers", readActiveAccounts);
  const [typed, setTyped] = useState<LimitTexts>({ account: wanted });
  const [isReviewed, setReviewed] = useState(false);
  const [created, setCreated] = useState<NewKey | null>(null);
  const startAgain = () => {
    setTyped({ account: typed.account ?? "" });
    setReviewed(false);
    setCreated(null);
  };
  return (
    <>
      <p class="back">
        <a href={hrefOf(wanted === "" ? "accounts" : `accounts/${encodeURIComponent(wanted)}`)}>
          ← {wanted === "" ? TEXTS.accounts.back : wanted}
        </a>
      </p>
      <PageHead title={texts.title} />
      {error !== null && <ErrorNotice error={error} />}
      {accounts === null && error === null && <Loading />}
      {accounts?.length === 0 && (
        <EmptyState title={TEXTS.accounts.emptyTitle}>
          {texts.noAccounts} <a href={hrefOf("accounts")}>{texts.toAccounts}</a>
        </EmptyState>
      )}
      {accounts !== null && accounts.length > 0 && created === null && !isReviewed && (
        <Fields
          accounts={accounts}
          typed={typed}
          onDone={(next) => {
            setTyped(next);
            setReviewed(true);
          }}
        />
      )}
      {created === null && isReviewed && (
        <Review
          typed={typed}
          onBack={() => setReviewed(false)}
          onCreated={setCreated}
        />
      )}
      {created !== null && <KeyReady of={created} onAnother={startAgain} />}
    </>
  );
}

function Fields({ accounts, typed, onDone }: {
  readonly accounts: readonly Account[];
  readonly typed: LimitTexts;
  readonly onDone: (typed: LimitTexts) => void;
}) {
  const review = (fields: FormData) => {
    onDone(textsIn(fields));
    return Promise.resolve();
  };
  return (
    <Card title={texts.limits}>
      <ActionForm submit={TEXTS.forms.preview} onSubmit={review} isKept>
        <Field name={texts.account}>
          <select name="account" required>
            {accounts.map(({ id, name }) => (
              <option key={id} value={id} selected={id === typed.account}>
                {name === null ? id : `${id} (${name})`}
              </option>
            ))}
          </select>
        </Field>
        <LimitInputs holder="key" texts={typed} />
      </ActionForm>
    </Card>
  );
}

/** What will be created, before it is. */
function Review({ typed, onBack, onCreated }: {
  readonly typed: LimitTexts;
  readonly onBack: () => void;
  readonly onCreated: (key: NewKey) => void;
}) {
  const { account = "", ...limits } = typed;
  const fields = newFields(limits);
  const lines = keyLines(fields);
  const create = async () => {
    const address = `/admin/v1/accounts/${encodeURIComponent(account)}/keys`;
    const { secret } = await change<{ secret: string }>("POST", address, fields);
    onCreated({ account, secret, models: Array.isArray(fields.models) ? fields.models.map(String) : null });
  };
  return (
    <Card title={texts.review}>
      <h3>{TEXTS.configuration.difference}</h3>
      <ul class="difference">
        <li>
          <Badge tone="good">{TEXTS.configuration.added}</Badge> {texts.inAccount(account)}
        </li>
        {lines.map(({ title, text }) => (
          <li key={title}>
            <Badge tone="good">{TEXTS.configuration.added}</Badge> {title}: <strong>{text}</strong>
          </li>
        ))}
      </ul>
      {fields.budget === undefined && <p class="hint">{texts.noBudget}</p>}
      <div class="actions">
        <ActionForm submit={texts.create} onSubmit={create} isKept />
        <button type="button" onClick={onBack}>{texts.back}</button>
      </div>
    </Card>
  );
}
