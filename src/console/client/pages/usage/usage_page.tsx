import { apiAddress, read } from "../../api.ts";
import { Card } from "../../components/card.tsx";
import { Choice } from "../../components/choice.tsx";
import { DataTable } from "../../components/data_table.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { Stat } from "../../components/stat.tsx";
import { TimeChart } from "../../components/time_chart.tsx";
import { compact, dollars, number, percent } from "../../format.ts";
import { query, setQuery } from "../../navigation.ts";
import type { Page } from "../../page.ts";
import { usePolled } from "../../polled.ts";
import { session } from "../../session_state.ts";
import type { UsageAnswer, UsageGroup } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { costByDay, lastDays } from "./cost_by_day.ts";

const DIMENSIONS = {
  operator: ["model", "provider", "account", "key", "kind"],
  caller: ["model", "provider", "kind"],
} as const;
const SPANS = ["7", "30", "90"] as const;
const MAX_GROUPS = 1_000;
const REFRESH_MS = 60_000;

type Dimension = (typeof DIMENSIONS.operator)[number];

/** What was charged, by day and by a dimension. */
export const usagePage: Page = {
  path: "usage",
  title: TEXTS.usage.title,
  icon: "usage",
  audience: "all",
  View: Usage,
};

function Usage() {
  const kind = session.value?.kind ?? "caller";
  const dimensions: readonly Dimension[] = DIMENSIONS[kind];
  const dimension = dimensions.find((each) => each === query.value.get("group_by")) ?? "model";
  const span = SPANS.find((each) => each === query.value.get("days")) ?? "30";
  const days = lastDays(Number(span), Date.now());
  const range = { from: days[0] ?? "" };
  const endpoint = kind === "operator" ? "/admin/v1/usage" : "/v1/usage";
  const load = (groupBy: string, signal: AbortSignal) =>
    read<UsageAnswer>(endpoint, { ...range, group_by: groupBy, limit: MAX_GROUPS }, signal);
  const sums = usePolled(`${dimension} ${span}`, (signal) => load(dimension, signal), REFRESH_MS);
  const byDay = usePolled(`${dimension} ${span}`, (signal) => load(`day,${dimension}`, signal), REFRESH_MS);
  const error = sums.error ?? byDay.error;
  const { data } = sums;
  return (
    <>
      <PageHead title={TEXTS.usage.title}>
        <Choice
          label={TEXTS.usage.days}
          values={SPANS}
          titles={TEXTS.usage.spans}
          value={span}
          onChange={(value) => setQuery({ days: value })}
        />
        <Choice
          label={TEXTS.usage.groupBy}
          values={dimensions}
          titles={TEXTS.usage.dimensions}
          value={dimension}
          onChange={(value) => setQuery({ group_by: value })}
        />
      </PageHead>
      {error !== null && <ErrorNotice error={error} />}
      {data === null && error === null && <Loading />}
      {data !== null && data.data.length === 0 && (
        <section class="card">
          <EmptyState title={TEXTS.usage.emptyTitle}>{TEXTS.usage.empty}</EmptyState>
        </section>
      )}
      {data !== null && data.data.length > 0 && (
        <div class="grid">
          <Totals total={data.total} />
          <Card title={TEXTS.usage.chart} isWide>
            {byDay.data === null ? <Loading /> : (
              <TimeChart
                label={TEXTS.usage.chart}
                isStacked
                format={dollars}
                times={days.map((day) => Date.parse(day) / 1_000)}
                series={costByDay({ groups: byDay.data.data, dimension, days })}
              />
            )}
          </Card>
          <Card
            title={TEXTS.usage.table}
            isWide
            actions={
              <a
                class="button"
                download={`usage-by-${dimension}.csv`}
                href={apiAddress(endpoint, { ...range, group_by: `day,${dimension}`, format: "csv" })}
              >
                {TEXTS.usage.csv}
              </a>
            }
          >
            <Groups answer={data} dimension={dimension} />
          </Card>
        </div>
      )}
    </>
  );
}

function Totals({ total }: { readonly total: UsageAnswer["total"] }) {
  return (
    <dl class="stats wide">
      <Stat name={TEXTS.usage.cost}>{dollars(total.cost)}</Stat>
      <Stat name={TEXTS.usage.requests}>{compact(total.requests)}</Stat>
      <Stat name={TEXTS.usage.input}>{compact(total.input_tokens)}</Stat>
      <Stat name={TEXTS.usage.output}>{compact(total.output_tokens)}</Stat>
      <Stat name={TEXTS.usage.images}>{compact(total.images)}</Stat>
      <Stat name={TEXTS.usage.videoSeconds}>{compact(total.video_seconds)}</Stat>
    </dl>
  );
}

function Groups({ answer: { data, total }, dimension }: {
  readonly answer: UsageAnswer;
  readonly dimension: Dimension;
}) {
  const rows = data.toSorted((one, other) => Number(other.cost) - Number(one.cost));
  const nameOf = (group: UsageGroup) => String(group[dimension] ?? TEXTS.usage.unnamed);
  const sum = Number(total.cost);
  return (
    <DataTable
      label={TEXTS.usage.table}
      rows={rows}
      keyOf={nameOf}
      columns={[
        { title: TEXTS.usage.dimensions[dimension], cell: nameOf },
        { title: TEXTS.usage.cost, isNumeric: true, cell: ({ cost }) => dollars(cost) },
        {
          title: TEXTS.usage.share,
          isNumeric: true,
          cell: ({ cost }) => percent(sum === 0 ? 0 : Number(cost) / sum),
        },
        { title: TEXTS.usage.requests, isNumeric: true, cell: ({ requests }) => number(requests) },
        { title: TEXTS.usage.input, isNumeric: true, cell: ({ input_tokens }) => number(input_tokens) },
        { title: TEXTS.usage.output, isNumeric: true, cell: ({ output_tokens }) => number(output_tokens) },
        { title: TEXTS.usage.images, isNumeric: true, cell: ({ images }) => number(images) },
        { title: TEXTS.usage.videoSeconds, isNumeric: true, cell: ({ video_seconds }) => number(video_seconds) },
      ]}
    />
  );
}
