import { Card } from "../../components/card.tsx";
import { TimeChart } from "../../components/time_chart.tsx";
import { compact, dollars, duration, number } from "../../format.ts";
import type { Traffic } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { failedOf, rateOf } from "./traffic_stats.tsx";

const SECONDS_PER_MINUTE = 60;

/** The traffic of a span over time. */
export function TrafficCharts({ steps: [first, ...others] }: { readonly steps: readonly Traffic[] }) {
  if (first === undefined) return null;
  // A line needs two points, so the first step has one at its start and one at its end.
  const steps = [first, first, ...others];
  const times = [first.from, first.to, ...others.map(({ to }) => to)];
  const rates = (countOf: (step: Traffic) => number) => steps.map((step) => rateOf(step, countOf(step)));
  const quantiles = (field: "first_byte_ms" | "duration_ms") =>
    (["p50", "p95", "p99"] as const).map((name) => ({
      name,
      values: steps.map((step) => step[field]?.[name] ?? null),
    }));
  return (
    <>
      <Card title={TEXTS.overview.traffic}>
        <TimeChart
          label={TEXTS.overview.traffic}
          times={times}
          isStacked
          format={number}
          series={[
            {
              name: TEXTS.overview.succeededSeries,
              values: rates((step) => step.requests - failedOf(step)),
            },
            { name: TEXTS.overview.failedSeries, values: rates(failedOf) },
          ]}
        />
      </Card>
      <Card title={TEXTS.overview.latency}>
        <TimeChart
          label={TEXTS.overview.latency}
          times={times}
          format={duration}
          series={quantiles("first_byte_ms")}
        />
      </Card>
      <Card title={TEXTS.overview.totalLatency}>
        <TimeChart
          label={TEXTS.overview.totalLatency}
          times={times}
          format={duration}
          series={quantiles("duration_ms")}
        />
      </Card>
      <Card title={TEXTS.overview.cost}>
        <TimeChart
          label={TEXTS.overview.cost}
          times={times}
          isStacked
          format={dollars}
          series={[{
            name: TEXTS.overview.costSeries,
            values: rates(({ cost }) => Number(cost) * SECONDS_PER_MINUTE),
          }]}
        />
      </Card>
      <Card title={TEXTS.overview.tokenRate}>
        <TimeChart
          label={TEXTS.overview.tokenRate}
          times={times}
          isStacked
          format={compact}
          series={[
            { name: TEXTS.overview.inputSeries, values: rates(({ input_tokens }) => input_tokens) },
            { name: TEXTS.overview.outputSeries, values: rates(({ output_tokens }) => output_tokens) },
          ]}
        />
      </Card>
    </>
  );
}
