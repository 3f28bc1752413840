import { useState } from "preact/hooks";
import { apiAddress, read } from "../../api.ts";
import { Card } from "../../components/card.tsx";
import { Choice } from "../../components/choice.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import { MoreButton } from "../../components/more_button.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { type RangeEnds, rangeInAddress, SpanChoice } from "../../components/span_choice.tsx";
import { Stat } from "../../components/stat.tsx";
import { TimeChart } from "../../components/charts/time_chart.tsx";
import { compact, dollars } from "../../format.ts";
import { query, setQuery } from "../../navigation.ts";
import type { Page } from "../../page.ts";
import { useLatest } from "../../lists/paged.ts";
import { usePolled } from "../../lists/polled.ts";
import { session } from "../../session_state.ts";
import type { UsageAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { costByDay, dayAfter, daysBetween, lastDays } from "./cost_by_day.ts";
import { UsageFilters, usageFilters } from "./usage_filters.tsx";
import { UsageTable } from "./usage_table.tsx";

const DIMENSIONS = {
  operator: ["model", "provider", "account", "key", "kind", "day"],
  caller: ["model", "provider", "kind", "day"],
} as const;
const SPANS = ["7", "30", "90"] as const;
/** Groups with a series of their own. The chart has eight colours. */
const SHOWN_SERIES = 7;
/** Groups of the table, and how many more are shown on demand. */
const SHOWN_GROUPS = 100;
/** Of one answer. */
const MAX_GROUPS = 1_000;
const REFRESH_MS = 60_000;
const DAY_SECONDS = 86_400;

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
  const dimensions: readonly Dimension[] = DIMENSIONS[session.value?.kind ?? "caller"];
  const dimension = dimensions.find((each) => each === query.value.get("group_by")) ?? "model";
  const span = SPANS.find((each) => each === query.value.get("days")) ?? "30";
  const range = rangeInAddress();
  return (
    <>
      <PageHead title={TEXTS.usage.title}>
        <SpanChoice
          label={TEXTS.usage.days}
          parameter="days"
          spans={SPANS}
          titles={TEXTS.usage.spans}
          span={span}
          type="date"
        />
        <Choice
          label={TEXTS.usage.groupBy}
          values={dimensions}
          titles={TEXTS.usage.dimensions}
          value={dimension}
          onChange={(value) => setQuery({ group_by: value })}
        />
      </PageHead>
      <UsageFilters />
      <UsageCards
        key={JSON.stringify([dimension, span, range, usageFilters()])}
        dimension={dimension}
        span={span}
        range={range}
      />
    </>
  );
}

interface UsageChoice {
  readonly dimension: Dimension;
  readonly span: (typeof SPANS)[number];
  /** In place of the span; null for none. */
  readonly range: RangeEnds | null;
}

function UsageCards({ dimension, span, range: ends }: UsageChoice) {
  const [shown, setShown] = useState(SHOWN_GROUPS);
  const filters = usageFilters();
  const now = Date.now();
  const days = ends === null ? lastDays(Number(span), now) : daysBetween(ends.from, ends.to, now);
  const [first = "", last = first] = [days[0], days.at(-1)];
  const range = { ...filters, from: first, ...ends !== null && { to: dayAfter(last) } };
  const endpoint = session.value?.kind === "operator" ? "/admin/v1/usage" : "/v1/usage";
  const groupedByDay = dimension === "day" ? "day" : `day,${dimension}`;
  const load = (groupBy: string, top: number, signal: AbortSignal) =>
    read<UsageAnswer>(endpoint, { ...range, group_by: groupBy, top, limit: MAX_GROUPS }, signal);
  const sums = usePolled(String(shown), (signal) => load(dimension, shown, signal), REFRESH_MS);
  const byDay = usePolled("", (signal) => load(groupedByDay, SHOWN_SERIES, signal), REFRESH_MS);
  const data = useLatest("", sums.data);
  if (data === null) return sums.error === null ? <Loading /> : <ErrorNotice error={sums.error} />;
  const isMore = (data.others?.length ?? 0) > 0 && shown < MAX_GROUPS;
  return (
    <>
      {sums.error !== null && <ErrorNotice error={sums.error} />}
      {data.data.length === 0
        ? (
          <section class="card">
            <EmptyState title={TEXTS.usage.emptyTitle}>
              {Object.keys(filters).length === 0 ? TEXTS.usage.empty : TEXTS.usage.emptyFiltered}
            </EmptyState>
          </section>
        )
        : (
          <div class="grid">
            <Totals total={data.total} />
            <Card title={TEXTS.usage.chart} isWide>
              {byDay.error !== null && <ErrorNotice error={byDay.error} />}
              {byDay.data === null && byDay.error === null && <Loading />}
              {byDay.data !== null && (
                <TimeChart
                  label={TEXTS.usage.chart}
                  isStacked
                  isByUtcDay
                  shape="bars"
                  axis={daysAxis(days)}
                  format={dollars}
                  times={days.map((day) => Date.parse(day) / 1_000)}
                  series={costByDay({ answer: byDay.data, dimension, days })}
                />
              )}
            </Card>
            <Card
              title={TEXTS.usage.tables[dimension]}
              isWide
              actions={
                <a
                  class="button"
                  download={`usage-by-${dimension}.csv`}
                  href={apiAddress(endpoint, { ...range, group_by: groupedByDay, format: "csv" })}
                >
                  {TEXTS.usage.csv}
                </a>
              }
            >
              <UsageTable answer={data} dimension={dimension} parameters={{ ...filters, ...ends ?? { days: span } }} />
              <MoreButton
                onMore={isMore ? () => setShown(Math.min(shown + SHOWN_GROUPS, MAX_GROUPS)) : null}
              />
            </Card>
          </div>
        )}
    </>
  );
}

/** From the start of the first day to the last second of the last one, so that no further day is written. */
function daysAxis(days: readonly string[]): readonly [number, number] {
  const start = (day: string | undefined) => Date.parse(day ?? "") / 1_000;
  return [start(days[0]), start(days.at(-1)) + DAY_SECONDS - 1];
}

function Totals({ total }: { readonly total: UsageAnswer["total"] }) {
  return (
    <dl class="stats wide">
      <Stat name={TEXTS.usage.cost}>{dollars(total.cost)}</Stat>
      <Stat name={TEXTS.usage.cacheSaved}>{dollars(total.cache_saved)}</Stat>
      <Stat name={TEXTS.usage.requests}>{compact(total.requests)}</Stat>
      <Stat name={TEXTS.usage.input}>{compact(total.input_tokens)}</Stat>
      <Stat name={TEXTS.usage.output}>{compact(total.output_tokens)}</Stat>
      <Stat name={TEXTS.usage.images}>{compact(total.images)}</Stat>
      <Stat name={TEXTS.usage.videoSeconds}>{compact(total.video_seconds)}</Stat>
    </dl>
  );
}
