import { useState } from "preact/hooks";
import { change, read } from "../../api.ts";
import { ActionForm, Field } from "../../components/action_form.tsx";
import { Card } from "../../components/card.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { ListExport } from "../../components/list_export.tsx";
import { MoreButton } from "../../components/more_button.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { SecretShown } from "../../components/secret_shown.tsx";
import { dollars } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import { usePages } from "../../lists/paged.ts";
import { canWrite } from "../../session_state.ts";
import type { Account, ListAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { formHref } from "../forms/form_href.ts";
import { AccountStatus } from "./account_status.tsx";
import { balanceText } from "./balance_text.ts";
import { limitsText } from "./limits_text.ts";

const PAGE_SIZE = 100;

/** All accounts, and the form that creates one. */
export function AccountList() {
  const load = (after: string, signal: AbortSignal) =>
    read<ListAnswer<Account>>("/admin/v1/accounts", { limit: PAGE_SIZE, after }, signal);
  const { rows, error, showMore, reload } = usePages<Account>({ name: "accounts", load });
  return (
    <>
      <PageHead title={TEXTS.accounts.title}>
        {canWrite() && rows !== null && rows.length > 0 && (
          <a class="button" href={formHref("accounts", "key")}>{TEXTS.forms.key.add}</a>
        )}
      </PageHead>
      {error !== null && <ErrorNotice error={error} />}
      {rows === null && error === null && <Loading />}
      {rows !== null && (rows.length === 0 ? <NoAccounts /> : <Accounts accounts={rows} />)}
      <MoreButton onMore={showMore} />
      {rows !== null && rows.length > 0 && <ListExport file="accounts" load={load} />}
      {canWrite() && <CreateAccount onCreated={reload} />}
    </>
  );
}

function NoAccounts() {
  const { emptyTitle, empty, emptyForReaders } = TEXTS.accounts;
  return <EmptyState title={emptyTitle}>{canWrite() ? empty : emptyForReaders}</EmptyState>;
}

function Accounts({ accounts }: { readonly accounts: readonly Account[] }) {
  return (
    <DataTable
      label={TEXTS.accounts.table}
      rows={accounts}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => hrefOf(`accounts/${encodeURIComponent(id)}`)}
      columns={[
        { title: TEXTS.accounts.account, cell: ({ id }) => id },
        { title: TEXTS.accounts.name, cell: ({ name }) => name ?? "" },
        { title: TEXTS.accounts.status, cell: ({ status }) => <AccountStatus status={status} /> },
        { title: TEXTS.accounts.balance, isNumeric: true, cell: balanceText },
        { title: TEXTS.accounts.held, leaveOut: 1, isNumeric: true, cell: ({ held }) => dollars(held) },
        { title: TEXTS.accounts.limits, leaveOut: 2, cell: limitsText },
        { title: TEXTS.accounts.created, leaveOut: 3, cell: ({ created_at }) => <Instant at={created_at} /> },
      ]}
    />
  );
}

function CreateAccount({ onCreated }: { readonly onCreated: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  const create = async (fields: FormData) => {
    const balance = String(fields.get("balance") ?? "").trim();
    const created = await change<{ webhook_secret: string }>("POST", "/admin/v1/accounts", {
      id: String(fields.get("id") ?? "").trim(),
      ...balance !== "" && { balance },
    });
    setSecret(created.webhook_secret);
    onCreated();
  };
  return (
    <Card title={TEXTS.accounts.createTitle}>
      {secret !== null && (
        <SecretShown
          title={TEXTS.accounts.webhookSecret}
          secret={secret}
          onClose={() => setSecret(null)}
        />
      )}
      <ActionForm submit={TEXTS.accounts.create} onSubmit={create}>
        <Field name={TEXTS.accounts.id}>
          <input name="id" required maxLength={100} autocomplete="off" />
        </Field>
        <Field name={TEXTS.accounts.startBalance}>
          <input name="balance" placeholder={TEXTS.accounts.startBalanceExample} autocomplete="off" />
        </Field>
      </ActionForm>
    </Card>
  );
}
