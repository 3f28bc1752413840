import { read } from "../../api.ts";
import { StatusBadge } from "../../components/badge.tsx";
import { Card } from "../../components/card.tsx";
import { DataTable } from "../../components/tables/data_table.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Instant } from "../../components/instant.tsx";
import { Loading } from "../../components/loading.tsx";
import { Stat } from "../../components/stat.tsx";
import { compact, dollars, duration, number } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import { readPages } from "../../lists/paged.ts";
import { usePolled } from "../../lists/polled.ts";
import type { ListAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { type LoggedRequest, requestsEndpoint } from "./logged_request.ts";
import { sumOf } from "./session_sum.ts";

const PAGE_SIZE = 100;
/** A search through a large log returns parts of a page. */
const MAX_PAGES = 20;

const texts = TEXTS.requests;

/** The requests of the session of a request, with their sum. Other accounts can use the same id. */
export function SessionCard({ request: { id, account }, session }: {
  readonly request: Pick<LoggedRequest, "id" | "account">;
  readonly session: string;
}) {
  const filters = { session, ...account && { account } };
  const load = (after: string, signal: AbortSignal) =>
    read<ListAnswer<LoggedRequest>>(requestsEndpoint(), { ...filters, limit: PAGE_SIZE, after }, signal);
  const { data, error } = usePolled(`session ${session}`, (signal) => readPages(load, MAX_PAGES, signal));
  return (
    <Card
      title={texts.sessionTitle}
      isWide
      actions={<a href={hrefOf("requests", filters)}>{texts.sessionAll}</a>}
    >
      {error !== null && <ErrorNotice error={error} />}
      {data === null && error === null && <Loading />}
      {data !== null && data.data.length > 0 && (
        <>
          <Sum requests={data.data} />
          {data.next !== null && <p class="hint">{texts.sessionMore(number(data.data.length))}</p>}
          <Table id={id} requests={data.data.toReversed()} />
        </>
      )}
    </Card>
  );
}

function Sum({ requests }: { readonly requests: readonly LoggedRequest[] }) {
  const { failed, input, output, cost, spanMs } = sumOf(requests);
  const names = texts.sessionSum;
  return (
    <dl class="stats">
      <Stat name={names.requests}>{number(requests.length)}</Stat>
      <Stat name={names.failed}>{number(failed)}</Stat>
      <Stat name={names.tokens}>{`${compact(input)} + ${compact(output)}`}</Stat>
      <Stat name={names.cost}>{dollars(cost)}</Stat>
      <Stat name={names.span}>{duration(spanMs)}</Stat>
    </dl>
  );
}

function Table({ id: own, requests }: { readonly id: string; readonly requests: readonly LoggedRequest[] }) {
  return (
    <DataTable
      label={texts.sessionTable}
      rows={requests}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => hrefOf(`requests/${id}`)}
      columns={[
        {
          title: texts.arrived,
          cell: ({ id, received_at }) => (
            <>
              <Instant at={received_at} /> {id === own && <strong class="hint">{texts.thisRequest}</strong>}
            </>
          ),
        },
        { title: texts.status, cell: ({ status }) => <StatusBadge status={status} /> },
        { title: texts.model, cell: ({ model }) => model ?? "" },
        {
          title: texts.tokens,
          leaveOut: 1,
          isNumeric: true,
          cell: ({ usage }) => usage === null ? "" : `${compact(usage.input_tokens)} + ${compact(usage.output_tokens)}`,
        },
        { title: texts.cost, isNumeric: true, cell: ({ cost }) => cost === null ? "" : dollars(cost) },
        { title: texts.duration, leaveOut: 2, isNumeric: true, cell: ({ duration_ms }) => duration(duration_ms) },
      ]}
    />
  );
}
