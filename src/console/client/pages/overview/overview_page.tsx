import { Card } from "../../components/card.tsx";
import { Choice } from "../../components/choice.tsx";
import { EmptyState } from "../../components/empty_state.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { useLive } from "../../live.ts";
import { hrefOf, query, setQuery } from "../../navigation.ts";
import type { Page } from "../../page.ts";
import type { ProvidersAnswer, TrafficAnswer } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { ErrorsCard } from "./errors_card.tsx";
import { NearEndCards } from "./near_end_cards.tsx";
import { ProvidersCard } from "./providers_card.tsx";
import { QueuesCard } from "./queues_card.tsx";
import { TrafficCharts } from "./traffic_charts.tsx";
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
  const { data: { traffic, providers }, error } = useLive<OverviewEvents>(span, {
    path: "/admin/v1/overview/events",
    query: { span },
    fallback: { traffic: { path: "/admin/v1/traffic", query: { span } }, providers: { path: "/admin/v1/providers" } },
  });
  return (
    <>
      <PageHead title={TEXTS.overview.title}>
        <Choice
          label={TEXTS.overview.span}
          values={SPANS}
          titles={TEXTS.app.spans}
          value={span}
          onChange={(value) => setQuery({ span: value })}
        />
      </PageHead>
      {error !== null && <ErrorNotice error={error} />}
      <PriceNotice />
      {traffic === undefined || providers === undefined
        ? error === null && <Loading />
        : <Traffic span={span} answer={traffic} providers={providers} />}
    </>
  );
}

function Traffic({ span, answer, providers }: {
  readonly span: (typeof SPANS)[number];
  readonly answer: TrafficAnswer;
  readonly providers: ProvidersAnswer;
}) {
  return (
    <div class="grid">
      <SetupCard hasProvider={providers.data.length > 0} hasTraffic={answer.total.requests > 0} />
      <TrafficStats answer={answer} />
      {answer.total.requests === 0
        ? (
          <section class="card wide">
            <EmptyState title={TEXTS.overview.emptyTitle}>
              {TEXTS.overview.empty} <a href={hrefOf("requests")}>{TEXTS.overview.emptyLink}</a>
            </EmptyState>
          </section>
        )
        : <TrafficCharts span={span} data={answer.data} />}
      <Card title={TEXTS.overview.errors}>
        <ErrorsCard errors={answer.total.errors} />
      </Card>
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
