import { read } from "../../api.ts";
import { Card } from "../../components/card.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { MoreButton } from "../../components/more_button.tsx";
import { dollars } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import { usePages } from "../../lists/paged.ts";
import type { Account, LedgerEntry } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

const PAGE_SIZE = 50;

/** The entries of an account's ledger, the last first. They are read again when the balance changes. */
export function AccountLedger({ account: { id, balance, held } }: { readonly account: Account }) {
  const address = `/admin/v1/accounts/${encodeURIComponent(id)}/ledger`;
  const { rows, error, showMore } = usePages<LedgerEntry>({
    name: id,
    version: `${balance} ${held}`,
    load: (after, signal) => read(address, { limit: PAGE_SIZE, order: "desc", after }, signal),
  });
  return (
    <Card title={TEXTS.accounts.ledger} isWide>
      {error !== null && <ErrorNotice error={error} />}
      {rows === null && error === null && <Loading />}
      {rows !== null && rows.length === 0 && (
        <EmptyState title={TEXTS.accounts.noEntriesTitle}>{TEXTS.accounts.noEntries}</EmptyState>
      )}
      {rows !== null && rows.length > 0 && (
        <DataTable
          label={TEXTS.accounts.ledgerTable}
          rows={rows}
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
      <MoreButton onMore={showMore} />
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
