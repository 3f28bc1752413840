import { DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { number } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import { TEXTS } from "../../texts.ts";
import { sideOf } from "./traffic_points.ts";

/** Failed requests by their code, which leads to the requests. */
export function ErrorsCard({ errors }: { readonly errors: Readonly<Record<string, number>> }) {
  const rows = Object.entries(errors).sort(([, one], [, other]) => other - one);
  if (rows.length === 0) {
    return <EmptyState title={TEXTS.overview.noErrorsTitle}>{TEXTS.overview.noErrors}</EmptyState>;
  }
  return (
    <DataTable
      label={TEXTS.overview.errors}
      rows={rows}
      keyOf={([code]) => code}
      hrefOf={([code]) => hrefOf("requests", { code })}
      columns={[
        { title: TEXTS.overview.code, cell: ([code]) => <code>{code}</code> },
        { title: TEXTS.overview.whose, leaveOut: 1, cell: ([code]) => TEXTS.overview.sides[sideOf(code)] },
        { title: TEXTS.overview.count, isNumeric: true, cell: ([, count]) => number(count) },
      ]}
    />
  );
}
