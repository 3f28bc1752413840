import { DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { number } from "../../format.ts";
import { TEXTS } from "../../texts.ts";

/** The jobs of the store by their kind, the most first. */
export function QueuesCard({ jobs }: { readonly jobs: Readonly<Record<string, number>> }) {
  const rows = Object.entries(jobs).filter(([, count]) => count > 0).sort(([, one], [, other]) => other - one);
  if (rows.length === 0) {
    return <EmptyState title={TEXTS.overview.noJobsTitle}>{TEXTS.overview.noJobs}</EmptyState>;
  }
  const names: Readonly<Record<string, string>> = TEXTS.overview.queueNames;
  return (
    <DataTable
      label={TEXTS.overview.queues}
      rows={rows}
      keyOf={([kind]) => kind}
      columns={[
        { title: TEXTS.overview.queue, cell: ([kind]) => names[kind] ?? <code>{kind}</code> },
        { title: TEXTS.overview.waiting, isNumeric: true, cell: ([, count]) => number(count) },
      ]}
    />
  );
}
