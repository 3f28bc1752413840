import { DataTable } from "../../components/tables/data_table.tsx";
import { Instant } from "../../components/instant.tsx";
import { dollars } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import type { EndingAccount } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

/** The accounts whose balances end soon, the first one first. */
export function EndingCard({ ending }: { readonly ending: readonly EndingAccount[] }) {
  return (
    <>
      <p>{TEXTS.overview.endingText}</p>
      <DataTable
        label={TEXTS.overview.ending}
        rows={ending}
        keyOf={({ account }) => account}
        columns={[
          {
            title: TEXTS.overview.endingAccount,
            cell: ({ account }) => <a href={hrefOf(`accounts/${encodeURIComponent(account)}`)}>{account}</a>,
          },
          { title: TEXTS.overview.endingLeft, isNumeric: true, cell: ({ left }) => dollars(left) },
          { title: TEXTS.overview.endingRate, isNumeric: true, cell: ({ spent_per_day }) => dollars(spent_per_day) },
          { title: TEXTS.overview.endingAt, cell: ({ lasts_until }) => <Instant at={lasts_until} /> },
        ]}
      />
    </>
  );
}
