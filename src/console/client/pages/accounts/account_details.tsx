import { useState } from "preact/hooks";
import { change, read } from "../../api.ts";
import { ActionForm, Field } from "../../components/action_form.tsx";
import { Card } from "../../components/card.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { SecretShown } from "../../components/secret_shown.tsx";
import { Stat } from "../../components/stat.tsx";
import { dollars } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import { usePolled } from "../../lists/polled.ts";
import { canWrite, isOwner } from "../../session_state.ts";
import type { Account, AccountWithLeft } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { AccountKeys } from "./account_keys.tsx";
import { AmountField } from "./amount_field.tsx";
import { AccountLedger } from "./account_ledger.tsx";
import { balanceText } from "./balance_text.ts";
import { AccountStatus } from "./account_status.tsx";
import { hasLimitsLeft, LimitsLeft } from "./limits_left.tsx";
import { limitsText } from "./limits_text.ts";

const REFRESH_MS = 15_000;

/** One account: its money, its keys and its ledger. */
export function AccountDetails({ id }: { readonly id: string }) {
  const address = `/admin/v1/accounts/${encodeURIComponent(id)}`;
  const { data, error, reload } = usePolled(id, (signal) => read<AccountWithLeft>(address, {}, signal), REFRESH_MS);
  return (
    <>
      <p class="back">
        <a href={hrefOf("accounts")}>← {TEXTS.accounts.back}</a>
      </p>
      <PageHead title={data?.name ?? id}>
        {data !== null && <AccountStatus status={data.status} />}
        {canWrite() && data !== null && data.status !== "erased" && (
          <a class="button" href={hrefOf(`accounts/${encodeURIComponent(id)}/limits`)}>{TEXTS.accounts.changeLimits}</a>
        )}
        <a class="button" href={hrefOf("requests", { account: id })}>{TEXTS.accounts.requests}</a>
      </PageHead>
      {error !== null && <ErrorNotice error={error} />}
      {data === null && error === null && <Loading />}
      {data !== null && (
        <div class="grid">
          <Money account={data} />
          {hasLimitsLeft(data.left) && (
            <Card title={TEXTS.own.accountLeft} isWide>
              <LimitsLeft left={data.left} />
            </Card>
          )}
          <AccountKeys account={data} />
          {canWrite() && data.status !== "erased" && <Actions account={data} onChanged={reload} />}
          {canWrite() && data.status === "active" && <WebhookSecret account={data} />}
          {isOwner() && data.status !== "erased" && <Erase account={data} onChanged={reload} />}
          <AccountLedger account={data} />
        </div>
      )}
    </>
  );
}

function Money({ account }: { readonly account: AccountWithLeft }) {
  const limits = limitsText(account);
  const { spent_per_day, lasts_until } = account.forecast;
  return (
    <dl class="stats wide">
      <Stat name={TEXTS.accounts.balance} {...account.unlimited && { note: dollars(account.balance) }}>
        {balanceText(account)}
      </Stat>
      <Stat name={TEXTS.accounts.held}>{dollars(account.held)}</Stat>
      {!account.unlimited && <Stat name={TEXTS.accounts.overdraft}>{dollars(account.overdraft)}</Stat>}
      {Number(spent_per_day) > 0 && <Stat name={TEXTS.accounts.spentPerDay}>{dollars(spent_per_day)}</Stat>}
      {lasts_until !== null && (
        <Stat name={TEXTS.accounts.lastsUntil}>
          <Instant at={lasts_until} />
        </Stat>
      )}
      {account.expires_at !== null && (
        <Stat name={TEXTS.accounts.expires}>
          <Instant at={account.expires_at} />
        </Stat>
      )}
      {Object.entries(account.metadata).map(([name, value]) => <Stat key={name} name={name}>{value}</Stat>)}
      {limits !== "" && <Stat name={TEXTS.accounts.limits}>{limits}</Stat>}
    </dl>
  );
}

interface ChangeProps {
  readonly account: Account;
  readonly onChanged: () => void;
}

function Actions({ account: { id, status }, onChanged }: ChangeProps) {
  const address = `/admin/v1/accounts/${encodeURIComponent(id)}`;
  const [isReplayed, setReplayed] = useState(false);
  const credit = async (fields: FormData) => {
    const reference = String(fields.get("reference") ?? "").trim();
    const { replayed } = await change<{ replayed: boolean }>("POST", `${address}/credit`, {
      amount: String(fields.get("amount") ?? "").trim(),
      ...reference !== "" && { reference },
    });
    setReplayed(replayed);
    onChanged();
  };
  const adjust = async (fields: FormData) => {
    await change("POST", `${address}/adjust`, {
      amount: String(fields.get("amount") ?? "").trim(),
      reason: String(fields.get("reason") ?? "").trim(),
    });
    onChanged();
  };
  const isActive = status === "active";
  const switchState = async () => {
    await change("POST", `${address}/${isActive ? "suspend" : "resume"}`);
    onChanged();
  };
  return (
    <>
      <Card title={TEXTS.accounts.creditTitle}>
        {isReplayed && <p class="notice" role="status">{TEXTS.accounts.replayed}</p>}
        <ActionForm submit={TEXTS.accounts.credit} onSubmit={credit}>
          <AmountField kind="positive" />
          <Field name={TEXTS.accounts.reference}>
            <input name="reference" maxLength={200} autocomplete="off" />
          </Field>
          <p class="hint">{TEXTS.accounts.referenceHint}</p>
        </ActionForm>
      </Card>
      <Card title={TEXTS.accounts.adjustTitle}>
        <ActionForm submit={TEXTS.accounts.adjust} onSubmit={adjust}>
          <AmountField kind="signed" />
          <Field name={TEXTS.accounts.reason}>
            <input name="reason" required maxLength={200} autocomplete="off" />
          </Field>
          <p class="hint">{TEXTS.accounts.adjustHint}</p>
        </ActionForm>
      </Card>
      {status !== "erasing" && (
        <Card title={TEXTS.accounts.state}>
          <ActionForm
            submit={isActive ? TEXTS.accounts.suspend : TEXTS.accounts.resume}
            isDangerous={isActive}
            onSubmit={switchState}
          />
        </Card>
      )}
    </>
  );
}

function WebhookSecret({ account: { id } }: Pick<ChangeProps, "account">) {
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = async () => {
    if (!confirm(TEXTS.accounts.confirmWebhookSecret)) return;
    const address = `/admin/v1/accounts/${encodeURIComponent(id)}/webhook-secret`;
    setSecret((await change<{ webhook_secret: string }>("POST", address)).webhook_secret);
  };
  return (
    <Card title={TEXTS.accounts.webhookTitle}>
      <p class="hint">{TEXTS.accounts.webhookHint}</p>
      {secret !== null && (
        <SecretShown
          title={TEXTS.accounts.newWebhookSecret}
          secret={secret}
          onClose={() => setSecret(null)}
        />
      )}
      <ActionForm submit={TEXTS.accounts.rotateWebhookSecret} onSubmit={rotate} />
    </Card>
  );
}

interface ErasureAnswer {
  /** Numbers by what was removed; null where there is nothing of the kind. */
  readonly removed: Readonly<Record<string, number | null>>;
}

function Erase({ account: { id }, onChanged }: ChangeProps) {
  const [typed, setTyped] = useState("");
  const [removed, setRemoved] = useState<ErasureAnswer["removed"] | null>(null);
  const erase = async () => {
    const answer = await change<ErasureAnswer>("POST", `/admin/v1/accounts/${encodeURIComponent(id)}/erase`);
    setRemoved(answer.removed);
    onChanged();
  };
  return (
    <Card title={TEXTS.accounts.eraseTitle}>
      <p class="hint">{TEXTS.accounts.eraseHint}</p>
      {removed !== null && (
        <p class="notice good" role="status">
          {TEXTS.accounts.erased(Object.entries(removed).map(([name, count]) => `${count ?? 0} ${name}`).join(", "))}
        </p>
      )}
      <ActionForm submit={TEXTS.accounts.erase} isDangerous isDisabled={typed !== id} onSubmit={erase}>
        <Field name={TEXTS.accounts.typeToErase(id)}>
          <input
            name="confirm"
            value={typed}
            autocomplete="off"
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </Field>
      </ActionForm>
    </Card>
  );
}
