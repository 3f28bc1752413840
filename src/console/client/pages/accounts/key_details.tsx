import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { change, read } from "../../api.ts";
import { ActionForm, Field } from "../../components/action_form.tsx";
import { Card } from "../../components/card.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { SecretShown } from "../../components/secret_shown.tsx";
import { hrefOf } from "../../navigation.ts";
import { usePolled } from "../../lists/polled.ts";
import { canWrite } from "../../session_state.ts";
import type { AccountKey, KeyWithLeft } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { KeyState } from "./key_state.tsx";
import { changedFields, textsIn, textsOf } from "../forms/limit_fields.ts";
import { LimitInputs } from "../forms/limit_inputs.tsx";
import { LimitsLeft } from "./limits_left.tsx";
import { limitsText } from "./limits_text.ts";

const REFRESH_MS = 5_000;

/** One key: its limits with what is left, and for operators who write the changes of it. */
export function KeyDetails({ account, id }: { readonly account: string; readonly id: string }) {
  const address = `/admin/v1/accounts/${encodeURIComponent(account)}/keys/${encodeURIComponent(id)}`;
  const { data, error, reload } = usePolled(
    `${account} ${id}`,
    (signal) => read<KeyWithLeft>(address, {}, signal),
    REFRESH_MS,
  );
  return (
    <>
      <p class="back">
        <a href={hrefOf(`accounts/${encodeURIComponent(account)}`)}>← {account}</a>
      </p>
      <PageHead title={data?.name ?? <code class="title-code">{id}</code>}>
        {data !== null && <KeyState of={data} />}
        <a class="button" href={hrefOf("requests", { key: id })}>{TEXTS.accounts.requestsOfKey}</a>
      </PageHead>
      {error !== null && <ErrorNotice error={error} />}
      {data === null && error === null && <Loading />}
      {data !== null && (
        <div class="grid">
          <Facts of={data} />
          <Card title={TEXTS.own.left}>
            <LimitsLeft left={data.left.key} />
            <h3>{TEXTS.own.accountLeft}</h3>
            <LimitsLeft left={data.left.account} />
          </Card>
          {canWrite() && data.revoked_at === null && (
            <>
              <Edit of={data} address={address} onChanged={reload} />
              <Rotate address={address} onChanged={reload} />
              <Revoke of={data} address={address} onChanged={reload} />
            </>
          )}
        </div>
      )}
    </>
  );
}

function Facts({ of: key }: { readonly of: AccountKey }) {
  const metadata = Object.entries(key.metadata);
  const limits = limitsText(key);
  return (
    <Card title={TEXTS.accounts.key}>
      <dl class="facts">
        <dt>{TEXTS.accounts.id}</dt>
        <dd>
          <code>{key.id}</code>
        </dd>
        <dt>{TEXTS.own.prefix}</dt>
        <dd>
          <code>{key.prefix}…</code>
        </dd>
        <dt>{TEXTS.accounts.created}</dt>
        <dd>
          <Instant at={key.created_at} />
        </dd>
        <dt>{TEXTS.accounts.lastUsed}</dt>
        <dd>{key.last_used_at === null ? TEXTS.accounts.never : <Instant at={key.last_used_at} />}</dd>
        <dt>{TEXTS.accounts.expires}</dt>
        <dd>{key.expires_at === null ? TEXTS.accounts.never : <Instant at={key.expires_at} />}</dd>
        <dt>{TEXTS.accounts.limits}</dt>
        <dd>{limits === "" ? TEXTS.app.none : limits}</dd>
        {metadata.map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
    </Card>
  );
}

interface ChangeProps {
  readonly address: string;
  readonly onChanged: () => void;
}

function Edit({ of: key, address, onChanged }: ChangeProps & { readonly of: AccountKey }) {
  const [isSaved, setSaved] = useState(false);
  const save = async (fields: FormData) => {
    setSaved(false);
    await change("PATCH", address, changedFields(textsOf(key), textsIn(fields)));
    setSaved(true);
    onChanged();
  };
  return (
    <Card title={TEXTS.accounts.changeLimits} isWide>
      <p class="hint">{TEXTS.accounts.limitsHint}</p>
      <ActionForm submit={TEXTS.accounts.save} onSubmit={save} isKept>
        <LimitInputs holder="key" texts={textsOf(key)} isOpen />
      </ActionForm>
      {isSaved && <p class="notice good" role="status">{TEXTS.accounts.saved}</p>}
    </Card>
  );
}

const OVERLAPS = [0, 3_600, 86_400, 604_800] as const;

function Rotate({ address, onChanged }: ChangeProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = async (fields: FormData) => {
    const overlap = Number(fields.get("overlap"));
    const created = await change<{ secret: string }>("POST", `${address}/rotate`, { overlap });
    setSecret(created.secret);
    onChanged();
  };
  return (
    <Card title={TEXTS.accounts.rotateTitle}>
      <p class="hint">{TEXTS.accounts.rotateHint}</p>
      {secret !== null && <SecretShown title={TEXTS.accounts.newKey} secret={secret} onClose={() => setSecret(null)} />}
      <ActionForm submit={TEXTS.accounts.rotate} onSubmit={rotate}>
        <Field name={TEXTS.accounts.overlap}>
          <select name="overlap">
            {OVERLAPS.map((each) => <option key={each} value={each}>{TEXTS.accounts.overlaps[each]}</option>)}
          </select>
        </Field>
      </ActionForm>
    </Card>
  );
}

function Revoke({ of: { prefix }, address, onChanged }: ChangeProps & { readonly of: AccountKey }) {
  const revoke = async () => {
    if (!confirm(TEXTS.accounts.confirmRevoke(prefix))) return;
    await change("DELETE", address);
    onChanged();
  };
  return (
    <Card title={TEXTS.accounts.revokeTitle}>
      <p class="hint">{TEXTS.accounts.revokeHint}</p>
      <ActionForm submit={TEXTS.accounts.revoke} isDangerous onSubmit={revoke} />
    </Card>
  );
}
