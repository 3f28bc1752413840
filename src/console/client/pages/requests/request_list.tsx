import { useEffect, useState } from "preact/hooks";
import { type ApiError, read } from "../../api.ts";
import { StatusBadge } from "../../components/badge.tsx";
import { DataTable } from "../../components/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { compact, dollars, duration } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import { usePolled } from "../../polled.ts";
import { session } from "../../session_state.ts";
import type { ListAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { activeFilters, Filters } from "./filters.tsx";
import { type LoggedRequest, requestsEndpoint } from "./logged_request.ts";
import { joinedNewest } from "./newest.ts";

const PAGE_SIZE = 50;
const LIVE_MS = 2_000;

/** The list of requests, which can follow the log. */
export function RequestList() {
  const [isLive, setLive] = useState(false);
  const filters = activeFilters();
  const name = JSON.stringify(filters);
  return (
    <>
      <PageHead title={TEXTS.requests.title}>
        <button
          type="button"
          class="toggle"
          aria-pressed={isLive}
          title={TEXTS.requests.liveLabel}
          onClick={() => setLive(!isLive)}
        >
          {TEXTS.requests.live}
        </button>
      </PageHead>
      <Filters />
      <Results key={name} name={name} filters={filters} isLive={isLive} />
    </>
  );
}

function Results({ name, filters, isLive }: {
  readonly name: string;
  readonly filters: Readonly<Record<string, string>>;
  readonly isLive: boolean;
}) {
  const [older, setOlder] = useState<ListAnswer<LoggedRequest> | null>(null);
  const [shown, setShown] = useState<ListAnswer<LoggedRequest> | null>(null);
  const [olderError, setOlderError] = useState<ApiError | null>(null);
  const page = (after: string | null, signal: AbortSignal | null) =>
    read<ListAnswer<LoggedRequest>>(requestsEndpoint(), { ...filters, limit: PAGE_SIZE, after }, signal);
  const { data, error } = usePolled(name, (signal) => page(null, signal), isLive ? LIVE_MS : null);
  useEffect(() => {
    if (data !== null) setShown((before) => before === null ? data : joinedNewest(before, data));
  }, [data]);
  if (error !== null && shown === null) return <ErrorNotice error={error} />;
  if (shown === null) return <Loading />;
  const rows = [...shown.data, ...older?.data ?? []];
  const next = older === null ? shown.next : older.next;
  const showOlder = async () => {
    setOlderError(null);
    try {
      const more = await page(next, null);
      setOlder({ data: [...older?.data ?? [], ...more.data], next: more.next });
    } catch (failure) {
      setOlderError(failure as ApiError);
    }
  };
  return (
    <>
      {error !== null && <ErrorNotice error={error} />}
      {rows.length === 0 ? <NoRequests hasFilters={name !== "{}"} isComplete={next === null} /> : <Table rows={rows} />}
      {olderError !== null && <ErrorNotice error={olderError} />}
      {next !== null && <button type="button" class="more" onClick={() => void showOlder()}>{TEXTS.app.more}</button>}
    </>
  );
}

function NoRequests({ hasFilters, isComplete }: { readonly hasFilters: boolean; readonly isComplete: boolean }) {
  const { emptyTitle, empty, noneFoundTitle, noneFound, searchedLong } = TEXTS.requests;
  if (!hasFilters) return <EmptyState title={emptyTitle}>{empty}</EmptyState>;
  return <EmptyState title={noneFoundTitle}>{isComplete ? noneFound : searchedLong}</EmptyState>;
}

function Table({ rows }: { readonly rows: readonly LoggedRequest[] }) {
  const isOperator = session.value?.kind === "operator";
  return (
    <DataTable
      label={TEXTS.requests.table}
      rows={rows}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => hrefOf(`requests/${id}`)}
      columns={[
        { title: TEXTS.requests.arrived, cell: ({ received_at }) => <Instant at={received_at} /> },
        { title: TEXTS.requests.status, cell: StatusAndError },
        ...isOperator
          ? [{ title: TEXTS.requests.account, cell: ({ account }: LoggedRequest) => account ?? TEXTS.app.none }]
          : [],
        {
          title: TEXTS.requests.model,
          cell: ({ model, method, path }) => model ?? <span class="muted">{method} {path}</span>,
        },
        { title: TEXTS.requests.served, cell: ({ provider }) => provider ?? "" },
        { title: TEXTS.requests.tokens, isNumeric: true, cell: tokensOf },
        { title: TEXTS.requests.cost, isNumeric: true, cell: ({ cost }) => cost === null ? "" : dollars(cost) },
        {
          title: TEXTS.requests.firstByte,
          isNumeric: true,
          cell: ({ first_byte_ms }) => duration(first_byte_ms),
        },
        { title: TEXTS.requests.duration, isNumeric: true, cell: ({ duration_ms }) => duration(duration_ms) },
      ]}
    />
  );
}

function StatusAndError({ status, error }: LoggedRequest) {
  return (
    <>
      <StatusBadge status={status} />
      {error !== null && (
        <div>
          <code>{error.code}</code>
        </div>
      )}
    </>
  );
}

function tokensOf({ usage }: LoggedRequest): string {
  return usage === null ? "" : `${compact(usage.input_tokens)} + ${compact(usage.output_tokens)}`;
}
