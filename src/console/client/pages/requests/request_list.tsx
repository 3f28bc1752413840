import { useEffect, useState } from "preact/hooks";
import { type ApiError, type Query, read } from "../../api.ts";
import { StatusBadge } from "../../components/badge.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { ListExport } from "../../components/list_export.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { compact, dollars, duration } from "../../format.ts";
import { hrefOf, keepShownPages, query, shownPages } from "../../navigation.ts";
import { usePolled } from "../../lists/polled.ts";
import { session } from "../../session_state.ts";
import type { ListAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { activeFilters, Filters, playgroundFilter } from "./filters.tsx";
import { type LoggedRequest, requestsEndpoint } from "./logged_request.ts";
import { joinedNewest, newestFrom } from "./newest.ts";

const PAGE_SIZE = 50;
const LIVE_MS = 2_000;

/**
 * The list of requests, which can follow the log. The API returns what it finds in a short time, so parts are read
 * until they fill a page, or the log ends.
 */
export function RequestList() {
  const [isLive, setLive] = useState(false);
  const filters = activeFilters();
  const playground = playgroundFilter();
  const name = JSON.stringify({ ...filters, ...playground });
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
      <Results
        key={name}
        name={name}
        filters={{ ...filters, ...playground }}
        hasFilters={Object.keys(filters).length > 0}
        isLive={isLive}
      />
      {playground.is_from_console === "false" && (
        <p class="hint left-out">
          {TEXTS.requests.playgroundHidden}{" "}
          <a href={hrefOf("requests", { ...Object.fromEntries(query.value), playground: "shown" })}>
            {TEXTS.requests.showPlayground}
          </a>
        </p>
      )}
    </>
  );
}

function Results({ name, filters, hasFilters, isLive }: {
  readonly name: string;
  readonly filters: Readonly<Record<string, string>>;
  /** Whether a person has set some of them. */
  readonly hasFilters: boolean;
  readonly isLive: boolean;
}) {
  const [list, setList] = useState<ListAnswer<LoggedRequest> | null>(null);
  const [wanted, setWanted] = useState(PAGE_SIZE * shownPages(name));
  const [olderError, setOlderError] = useState<ApiError | null>(null);
  const page = (query: Query, signal: AbortSignal) =>
    read<ListAnswer<LoggedRequest>>(requestsEndpoint(), { ...filters, limit: PAGE_SIZE, ...query }, signal);
  const newest = (signal: AbortSignal) => {
    const from = list === null ? null : newestFrom(list);
    return page(from === null ? {} : { from }, signal);
  };
  const { data, error } = usePolled(name, newest, isLive ? LIVE_MS : null);
  useEffect(() => {
    if (data !== null) setList((before) => before === null ? data : joinedNewest(before, data));
  }, [data]);

  const after = list?.next ?? null;
  const isSearching = list !== null && after !== null && list.data.length < wanted && olderError === null;
  useEffect(() => {
    if (!isSearching) return;
    const ended = new AbortController();
    page({ after }, ended.signal).then(
      (more) => setList((before) => ({ data: [...before?.data ?? [], ...more.data], next: more.next })),
      (failure) => !ended.signal.aborted && setOlderError(failure as ApiError),
    );
    return () => ended.abort();
  }, [isSearching, after]);

  if (error !== null && list === null) return <ErrorNotice error={error} />;
  if (list === null) return <Loading />;
  const showOlder = () => {
    setOlderError(null);
    setWanted(list.data.length + PAGE_SIZE);
    keepShownPages(name, Math.ceil(list.data.length / PAGE_SIZE) + 1);
  };
  return (
    <>
      {error !== null && <ErrorNotice error={error} />}
      {list.data.length > 0 && <Table rows={list.data} />}
      {list.data.length === 0 && after === null && <NoRequests hasFilters={hasFilters} />}
      {olderError !== null && <ErrorNotice error={olderError} />}
      {isSearching && <p role="status" class="muted">{TEXTS.requests.searching}</p>}
      {after !== null && !isSearching && (
        <button type="button" class="more" onClick={showOlder}>{TEXTS.app.more}</button>
      )}
      {list.data.length > 0 && <ListExport file="requests" load={(after, signal) => page({ after }, signal)} />}
    </>
  );
}

function NoRequests({ hasFilters }: { readonly hasFilters: boolean }) {
  const { emptyTitle, empty, noneFoundTitle, noneFound } = TEXTS.requests;
  if (!hasFilters) return <EmptyState title={emptyTitle}>{empty}</EmptyState>;
  return <EmptyState title={noneFoundTitle}>{noneFound}</EmptyState>;
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
        { title: TEXTS.requests.served, leaveOut: 2, cell: ({ provider }) => provider ?? "" },
        { title: TEXTS.requests.tokens, leaveOut: 3, isNumeric: true, cell: tokensOf },
        { title: TEXTS.requests.cost, isNumeric: true, cell: ({ cost }) => cost === null ? "" : dollars(cost) },
        {
          title: TEXTS.requests.firstByte,
          leaveOut: 4,
          isNumeric: true,
          cell: ({ first_byte_ms }) => first_byte_ms === null ? "" : duration(first_byte_ms),
        },
        {
          title: TEXTS.requests.duration,
          leaveOut: 1,
          isNumeric: true,
          cell: ({ duration_ms }) => duration(duration_ms),
        },
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
