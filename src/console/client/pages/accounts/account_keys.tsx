import { useState } from "preact/hooks";
import { type ApiError, change, read } from "../../api.ts";
import { Card } from "../../components/card.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { MoreButton } from "../../components/more_button.tsx";
import { CheckField } from "../../components/text_field.tsx";
import { hrefOf, query, setQuery } from "../../navigation.ts";
import { usePages } from "../../lists/paged.ts";
import { canWrite } from "../../session_state.ts";
import type { Account, AccountKey } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { formHref } from "../forms/form_href.ts";
import { KeyState } from "./key_state.tsx";
import { limitsText } from "./limits_text.ts";

const PAGE_SIZE = 50;
/** What the names of the console's own keys begin with. Source: docs/console.md#playground. */
const CONSOLE_KEY = "console: ";

/** The keys of an account, the newest first. */
export function AccountKeys({ account: { id, status } }: { readonly account: Account }) {
  const address = `/admin/v1/accounts/${encodeURIComponent(id)}/keys`;
  const [revokeError, setRevokeError] = useState<ApiError | null>(null);
  const { rows, error, showMore, reload } = usePages<AccountKey>({
    name: `keys ${id}`,
    load: (after, signal) => read(address, { limit: PAGE_SIZE, order: "desc", after }, signal),
  });
  const showsConsole = query.value.get("console_keys") === "shown";
  const ofConsole = rows?.filter(isOfConsole).length ?? 0;
  const shown = rows?.filter((key) => showsConsole || !isOfConsole(key)) ?? [];
  const mayChange = canWrite() && status === "active";
  const revoke = async (key: AccountKey) => {
    if (!confirm(TEXTS.accounts.confirmRevoke(key.prefix))) return;
    setRevokeError(null);
    try {
      await change("DELETE", `${address}/${encodeURIComponent(key.id)}`);
    } catch (failure) {
      setRevokeError(failure as ApiError);
    }
    reload();
  };
  return (
    <Card
      title={TEXTS.accounts.keys}
      isWide
      actions={mayChange && (
        <a class="button primary" href={formHref(`accounts/${encodeURIComponent(id)}`, "key")}>
          {TEXTS.forms.key.add}
        </a>
      )}
    >
      {error !== null && <ErrorNotice error={error} />}
      {revokeError !== null && <ErrorNotice error={revokeError} />}
      {rows === null && error === null && <Loading />}
      {rows !== null && (shown.length === 0
        ? <EmptyState title={TEXTS.accounts.noKeysTitle}>{TEXTS.accounts.noKeys}</EmptyState>
        : <Keys keys={shown} onRevoke={mayChange ? (key) => void revoke(key) : null} />)}
      {ofConsole > 0 && (
        <CheckField
          title={TEXTS.accounts.consoleKeys(String(ofConsole))}
          isChecked={showsConsole}
          onChange={(isOn) => setQuery({ console_keys: isOn ? "shown" : "" })}
        />
      )}
      <MoreButton onMore={showMore} />
    </Card>
  );
}

/** Whether the console has created a key, by which an operator uses the playground as the account. */
function isOfConsole({ name }: AccountKey): boolean {
  return name?.startsWith(CONSOLE_KEY) === true;
}

function Keys({ keys, onRevoke }: {
  readonly keys: readonly AccountKey[];
  /** Null if keys may not be revoked. */
  readonly onRevoke: ((key: AccountKey) => void) | null;
}) {
  return (
    <DataTable
      label={TEXTS.accounts.keysTable}
      rows={keys}
      keyOf={({ id }) => id}
      hrefOf={({ id, account }) => hrefOf(`accounts/${encodeURIComponent(account)}/keys/${id}`)}
      columns={[
        { title: TEXTS.accounts.key, cell: ({ prefix }) => <code>{prefix}…</code> },
        { title: TEXTS.accounts.name, cell: ({ name }) => name ?? "" },
        {
          title: TEXTS.accounts.status,
          cell: (key) => <KeyState of={key} />,
        },
        { title: TEXTS.accounts.limits, leaveOut: 1, cell: limitsText },
        { title: TEXTS.accounts.created, leaveOut: 4, cell: ({ created_at }) => <Instant at={created_at} /> },
        {
          title: TEXTS.accounts.lastUsed,
          leaveOut: 2,
          cell: ({ last_used_at }) => last_used_at === null ? TEXTS.accounts.never : <Instant at={last_used_at} />,
        },
        {
          title: TEXTS.accounts.expires,
          leaveOut: 3,
          cell: ({ expires_at }) => expires_at === null ? TEXTS.accounts.never : <Instant at={expires_at} />,
        },
        ...onRevoke === null ? [] : [{
          title: "",
          cell: (key: AccountKey) =>
            key.revoked_at === null && (
              <button
                type="button"
                class="danger small above"
                aria-label={TEXTS.accounts.revokeLabel(key.prefix)}
                onClick={() => onRevoke(key)}
              >
                {TEXTS.accounts.revoke}
              </button>
            ),
        }],
      ]}
    />
  );
}
