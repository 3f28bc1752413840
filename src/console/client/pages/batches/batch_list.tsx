import { Choice } from "../../components/choice.tsx";
import { type Column, DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { ListExport } from "../../components/list_export.tsx";
import { MoreButton } from "../../components/more_button.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { dollars } from "../../format.ts";
import { usePages } from "../../lists/paged.ts";
import { hrefOf, query, setQuery } from "../../navigation.ts";
import { TEXTS } from "../../texts.ts";
import { LineProgress } from "./line_progress.tsx";
import { BatchBadge } from "./batch_badge.tsx";
import { ALL_BATCHES, type BatchSource, type ShownBatch } from "./shown_batch.ts";

const STATUSES = ["", "in_progress", "finalizing", "completed", "failed", "cancelled", "expired"] as const;
const PAGE_SIZE = 50;
const REFRESH_MS = 5_000;

/** The batches of all accounts, or of the caller's API key, the newest first. */
export function BatchList({ source }: { readonly source: BatchSource }) {
  const { batches: texts } = TEXTS;
  const isOperator = source === ALL_BATCHES;
  const status = isOperator ? STATUSES.find((each) => each === query.value.get("status")) ?? "" : "";
  const load = (after: string, signal: AbortSignal) => source.list({ status, after, limit: PAGE_SIZE }, signal);
  const { rows, error, showMore } = usePages<ShownBatch>({ name: `batches ${status}`, everyMs: REFRESH_MS, load });
  return (
    <>
      <PageHead title={texts.title}>
        {isOperator && (
          <Choice
            label={texts.status}
            values={STATUSES}
            titles={texts.statuses}
            value={status}
            onChange={(value) => setQuery({ status: value })}
          />
        )}
      </PageHead>
      {error !== null && <ErrorNotice error={error} />}
      {rows === null && error === null && <Loading />}
      {rows?.length === 0 && (status === ""
        ? <EmptyState title={texts.emptyTitle}>{texts.empty}</EmptyState>
        : <EmptyState title={texts.noneFoundTitle}>{texts.noneFound}</EmptyState>)}
      {rows !== null && rows.length > 0 && (
        <DataTable
          label={texts.table}
          rows={rows}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => hrefOf(`batches/${id}`)}
          columns={isOperator ? COLUMNS : COLUMNS.filter(({ title }) => title !== texts.account)}
        />
      )}
      <MoreButton onMore={showMore} />
      {rows !== null && rows.length > 0 && <ListExport file="batches" load={load} />}
    </>
  );
}

const COLUMNS: readonly Column<ShownBatch>[] = [
  { title: TEXTS.batches.created, cell: ({ created_at }) => <Instant at={created_at} /> },
  { title: TEXTS.batches.status, cell: ({ status }) => <BatchBadge status={status} /> },
  { title: TEXTS.batches.account, cell: ({ account }) => account ?? "" },
  { title: TEXTS.batches.format, leaveOut: 1, cell: ({ protocol }) => TEXTS.batches.formats[protocol] },
  { title: TEXTS.batches.endpoint, leaveOut: 3, cell: ({ endpoint }) => <code>{endpoint}</code> },
  { title: TEXTS.batches.model, leaveOut: 2, cell: ({ model }) => model ?? "" },
  { title: TEXTS.batches.lines, cell: ({ lines }) => <LineProgress lines={lines} /> },
  { title: TEXTS.batches.cost, isNumeric: true, cell: ({ cost }) => dollars(cost) },
  { title: TEXTS.batches.estimate, isNumeric: true, cell: ({ estimate }) => dollars(estimate) },
];
