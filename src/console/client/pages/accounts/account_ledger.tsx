import { read } from "../../api.ts";
import { Card } from "../../components/card.tsx";
import { DataTable } from "../../components/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { dollars } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import { usePolled } from "../../polled.ts";
import type { Account, LedgerEntry, ListAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

const SHOWN_ENTRIES = 50;

/** The last entries of an account's ledger. They are read again when the balance changes. */
export function AccountLedger({ account: { id, balance, held } }: { readonly account: Account }) {
  const address = `/admin/v1/accounts/${encodeURIComponent(id)}/ledger`;
  const { data, error } = usePolled(
    `ledger ${id} ${balance} ${held}`,
    (signal) => read<ListAnswer<LedgerEntry>>(address, { limit: SHOWN_ENTRIES, order: "desc" }, signal),
  );
  return (
    <Card title={TEXTS.accounts.ledger} isWide>
      {error !== null && <ErrorNotice error={error} />}
      {data === null && error === null && <Loading />}
      {data !== null && data.data.length === 0 && (
        <EmptyState title={TEXTS.accounts.noEntriesTitle}>{TEXTS.accounts.noEntries}</EmptyState>
      )}
      {data !== null && data.data.length > 0 && (
        <DataTable
          label={TEXTS.accounts.ledgerTable}
          rows={data.data}
          keyOf={(entry) => entry.id}
          columns={[
            { title: TEXTS.accounts.at, cell: ({ created_at }) => <Instant at={created_at} /> },
            { title: TEXTS.accounts.operation, cell: ({ operation }) => operation },
            { title: TEXTS.accounts.reference, cell: ({ reference }) => reference ?? "" },
            { title: TEXTS.accounts.detail, cell: Detail },
            { title: TEXTS.accounts.change, isNumeric: true, cell: (entry) => dollars(entry.balance) },
            { title: TEXTS.accounts.heldChange, isNumeric: true, cell: (entry) => dollars(entry.held) },
          ]}
        />
      )}
    </Card>
  );
}

/** The reason of an adjustment, the model of a hold, or the requests that were charged together. */
function Detail({ detail, requests = [] }: LedgerEntry) {
  const [first, ...others] = requests;
  if (first === undefined) return detail?.reason ?? detail?.model ?? "";
  return (
    <>
      <a href={hrefOf(`requests/${encodeURIComponent(first.request_id)}`)}>{first.model}</a>
      {others.length > 0 && ` ${TEXTS.accounts.moreCharges(others.length)}`}
    </>
  );
}
