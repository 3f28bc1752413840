import { read } from "../../api.ts";
import { Choice } from "../../components/choice.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { ListExport } from "../../components/list_export.tsx";
import { MoreButton } from "../../components/more_button.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { number } from "../../format.ts";
import { hrefOf, query, setQuery } from "../../navigation.ts";
import { usePages } from "../../lists/paged.ts";
import { canWrite } from "../../session_state.ts";
import type { Delivery, ListAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { DeliveryState } from "./delivery_state.tsx";
import { RedeliverRange } from "./redeliver_range.tsx";

const STATES = ["", "pending", "delivered", "exhausted"] as const;
const PAGE_SIZE = 50;
const REFRESH_MS = 5_000;

/** The deliveries of all accounts, the newest first. */
export function DeliveryList() {
  const state = STATES.find((each) => each === query.value.get("state")) ?? "";
  const load = (after: string, signal: AbortSignal) =>
    read<ListAnswer<Delivery>>("/admin/v1/deliveries", { state, after, limit: PAGE_SIZE }, signal);
  const { rows, error, showMore, reload } = usePages<Delivery>({
    name: `deliveries ${state}`,
    everyMs: REFRESH_MS,
    load,
  });
  return (
    <>
      <PageHead title={TEXTS.webhooks.title}>
        <Choice
          label={TEXTS.webhooks.state}
          values={STATES}
          titles={TEXTS.webhooks.states}
          value={state}
          onChange={(value) => setQuery({ state: value })}
        />
        <a class="button" href={hrefOf("webhooks/receiver")}>{TEXTS.receiver.link}</a>
      </PageHead>
      {error !== null && <ErrorNotice error={error} />}
      {rows === null && error === null && <Loading />}
      {rows !== null && (rows.length === 0 ? <NoDeliveries isFiltered={state !== ""} /> : <Table deliveries={rows} />)}
      <MoreButton onMore={showMore} />
      {rows !== null && rows.length > 0 && <ListExport file="deliveries" load={load} />}
      {canWrite() && rows !== null && <RedeliverRange onRedelivered={reload} />}
    </>
  );
}

function NoDeliveries({ isFiltered }: { readonly isFiltered: boolean }) {
  const { emptyTitle, empty, noneFoundTitle, noneFound } = TEXTS.webhooks;
  return isFiltered
    ? <EmptyState title={noneFoundTitle}>{noneFound}</EmptyState>
    : <EmptyState title={emptyTitle}>{empty}</EmptyState>;
}

function Table({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  return (
    <DataTable
      label={TEXTS.webhooks.table}
      rows={deliveries}
      keyOf={({ task }) => task}
      hrefOf={({ task }) => hrefOf(`webhooks/${task}`)}
      columns={[
        { title: TEXTS.webhooks.created, cell: ({ created_at }) => <Instant at={created_at} /> },
        { title: TEXTS.webhooks.state, cell: ({ state }) => <DeliveryState state={state} /> },
        { title: TEXTS.webhooks.account, cell: ({ account }) => account ?? TEXTS.webhooks.operator },
        { title: TEXTS.webhooks.event, cell: ({ event }) => event },
        { title: TEXTS.webhooks.url, leaveOut: 2, cell: ({ url }) => <span class="cut" title={url}>{url}</span> },
        { title: TEXTS.webhooks.attempts, leaveOut: 1, isNumeric: true, cell: ({ attempts }) => number(attempts) },
        {
          title: TEXTS.webhooks.next,
          leaveOut: 3,
          cell: ({ next_attempt_at }) => next_attempt_at === null ? "" : <Instant at={next_attempt_at} />,
        },
      ]}
    />
  );
}
