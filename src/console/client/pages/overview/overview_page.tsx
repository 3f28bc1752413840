import { type ApiError, read } from "../../api.ts";
import { Card } from "../../components/card.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import { secondsOf } from "../../components/filter_form.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { type RangeEnds, rangeInAddress, SpanChoice } from "../../components/span_choice.tsx";
import { localTime } from "../../format.ts";
import { useLive } from "../../live.ts";
import { hrefOf, query } from "../../navigation.ts";
import type { Page } from "../../page.ts";
import { useLatest } from "../../lists/paged.ts";
import { usePolled } from "../../lists/polled.ts";
import type { ProvidersAnswer, TrafficAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { BreakdownCard } from "./breakdown_card.tsx";
import { ErrorsCard } from "./errors_card.tsx";
import { NearEndCards } from "./near_end_cards.tsx";
import { ProvidersCard } from "./providers_card.tsx";
import { QueuesCard } from "./queues_card.tsx";
import { TrafficCharts } from "./traffic_charts.tsx";
import { axisOf, rangeAxis } from "./traffic_points.ts";
import { TrafficStats } from "./traffic_stats.tsx";
import { SetupCard } from "./setup_card.tsx";
import { PriceNotice } from "./price_notice.tsx";
import { UnpricedCard } from "./unpriced_card.tsx";

const SPANS = ["hour", "day", "week", "month"] as const;

/** The events of the stream, by their names. */
interface OverviewEvents {
  readonly traffic: TrafficAnswer;
  readonly providers: ProvidersAnswer;
}

/** The state of the gateway at a glance. */
export const overviewPage: Page = {
  path: "overview",
  title: TEXTS.overview.title,
  icon: "overview",
  audience: "operators",
  View: Overview,
};

function Overview() {
  const span = SPANS.find((each) => each === query.value.get("span")) ?? "hour";
  const range = rangeInAddress();
  const now = Date.now() / MS;
  return (
    <>
      <PageHead title={TEXTS.overview.title}>
        <SpanChoice
          label={TEXTS.overview.span}
          parameter="span"
          spans={SPANS}
          titles={TEXTS.app.spans}
          span={span}
          type="datetime-local"
          min={minuteOf(now - KEPT_SECONDS)}
          max={minuteOf(now)}
        />
      </PageHead>
      {range === null ? <LiveTraffic span={span} /> : <RangeTraffic range={range} />}
    </>
  );
}

const MS = 1_000;
/** The traffic that the gateway keeps. Source: docs/api/admin.md#traffic. */
const KEPT_SECONDS = 31 * 86_400;
/** A range that ends now is read again this often. */
const REFRESH_MS = 10_000;

/** A time as the field of a form writes it, in the viewer's zone. */
function minuteOf(seconds: number): string {
  return localTime(seconds).slice(0, 16).replace(" ", "T");
}

/** A span that ends now, which the gateway's stream keeps up to date. */
function LiveTraffic({ span }: { readonly span: (typeof SPANS)[number] }) {
  const { data: { traffic, providers }, error } = useLive<OverviewEvents>(span, {
    path: "/admin/v1/overview/events",
    query: { span },
    fallback: { traffic: { path: "/admin/v1/traffic", query: { span } }, providers: { path: "/admin/v1/providers" } },
  });
  const shown = traffic === undefined ? null : { answer: traffic, axis: axisOf(span, traffic.data), query: { span } };
  return <Shown error={error} traffic={shown} providers={providers ?? null} />;
}

/** A time range of one's own. */
function RangeTraffic({ range }: { readonly range: RangeEnds }) {
  const [from, to] = [secondsOf(range.from), range.to === "" ? "" : secondsOf(range.to)];
  const every = to === "" ? REFRESH_MS : null;
  const name = `${from} ${to}`;
  const traffic = usePolled(name, (signal) => read<TrafficAnswer>("/admin/v1/traffic", { from, to }, signal), every);
  const providers = usePolled("", (signal) => read<ProvidersAnswer>("/admin/v1/providers", {}, signal), REFRESH_MS);
  const answer = useLatest(name, traffic.data);
  const axis = answer && rangeAxis([Number(from), to === "" ? Date.now() / MS : Number(to)], answer.data);
  return (
    <Shown
      error={traffic.error ?? providers.error}
      traffic={answer && axis && { answer, axis, query: { from, to }, range }}
      providers={providers.data}
    />
  );
}

/** The traffic of a span or a range. */
interface ShownTraffic {
  readonly answer: TrafficAnswer;
  /** Unix seconds. */
  readonly axis: readonly [number, number];
  /** By which the gateway's API reads it. */
  readonly query: Readonly<Record<string, string>>;
  /** As it is in the address. Default: a span that ends now. */
  readonly range?: RangeEnds;
}

function Shown({ error, traffic, providers }: {
  readonly error: ApiError | null;
  /** Null until it was read. */
  readonly traffic: ShownTraffic | null;
  readonly providers: ProvidersAnswer | null;
}) {
  return (
    <>
      {error !== null && <ErrorNotice error={error} />}
      <PriceNotice />
      {traffic === null || providers === null
        ? error === null && <Loading />
        : <Traffic {...traffic} providers={providers} />}
    </>
  );
}

function Traffic({ answer, axis, query, range, providers }: ShownTraffic & { readonly providers: ProvidersAnswer }) {
  return (
    <div class="grid">
      <SetupCard
        hasProvider={providers.data.length > 0}
        hasTraffic={answer.total.requests > 0 || range !== undefined}
      />
      <TrafficStats answer={answer} isRange={range !== undefined} />
      {answer.total.requests === 0
        ? (
          <section class="card wide">
            <EmptyState title={TEXTS.overview.emptyTitle}>
              {TEXTS.overview.empty} <a href={hrefOf("requests")}>{TEXTS.overview.emptyLink}</a>
            </EmptyState>
          </section>
        )
        : <TrafficCharts axis={axis} data={answer.data} />}
      <Card title={TEXTS.overview.errors}>
        <ErrorsCard errors={answer.total.errors} />
      </Card>
      {answer.total.requests > 0 && <BreakdownCard query={query} range={range ?? null} />}
      <Card title={TEXTS.overview.queues}>
        <QueuesCard jobs={answer.now.jobs} />
      </Card>
      <NearEndCards now={answer.now} />
      {(answer.now.unpriced ?? []).length > 0 && (
        <Card title={TEXTS.overview.unpriced}>
          <UnpricedCard unpriced={answer.now.unpriced ?? []} />
        </Card>
      )}
      <Card title={TEXTS.overview.providers}>
        <ProvidersCard providers={providers.data} />
      </Card>
    </div>
  );
}
