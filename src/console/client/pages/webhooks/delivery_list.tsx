import { read } from "../../api.ts";
import { Choice } from "../../components/choice.tsx";
import { DataTable } from "../../components/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { number } from "../../format.ts";
import { hrefOf, query, setQuery } from "../../navigation.ts";
import { usePolled } from "../../polled.ts";
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
  const after = query.value.get("after") ?? "";
  const { data, error, reload } = usePolled(
    `${state} ${after}`,
    (signal) => read<ListAnswer<Delivery>>("/admin/v1/deliveries", { state, after, limit: PAGE_SIZE }, signal),
    REFRESH_MS,
  );
  const next = data?.next ?? null;
  return (
    <>
      <PageHead title={TEXTS.webhooks.title}>
        <Choice
          label={TEXTS.webhooks.state}
          values={STATES}
          titles={TEXTS.webhooks.states}
          value={state}
          onChange={(value) => setQuery({ state: value, after: "" })}
        />
        <a class="button" href={hrefOf("webhooks/receiver")}>{TEXTS.receiver.link}</a>
      </PageHead>
      {error !== null && <ErrorNotice error={error} />}
      {data === null && error === null && <Loading />}
      {data !== null &&
        (data.data.length === 0 ? <NoDeliveries isFiltered={state !== ""} /> : <Table deliveries={data.data} />)}
      {next !== null && (
        <button type="button" class="more" onClick={() => setQuery({ after: next })}>{TEXTS.app.more}</button>
      )}
      {canWrite() && data !== null && <RedeliverRange onRedelivered={reload} />}
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
        { title: TEXTS.webhooks.url, cell: ({ url }) => <span class="cut" title={url}>{url}</span> },
        { title: TEXTS.webhooks.attempts, isNumeric: true, cell: ({ attempts }) => number(attempts) },
        {
          title: TEXTS.webhooks.next,
          cell: ({ next_attempt_at }) => next_attempt_at === null ? "" : <Instant at={next_attempt_at} />,
        },
      ]}
    />
  );
}
