import { Card } from "../../components/card.tsx";
import { TimeChart } from "../../components/charts/time_chart.tsx";
import { compact, dollars, duration, number } from "../../format.ts";
import type { Traffic } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { failuresOf, trafficPoints } from "./traffic_points.ts";
import { failedOf, rateOf } from "./traffic_stats.tsx";

const SECONDS_PER_MINUTE = 60;
/** Colors of failures, by their numbers in the style sheet. */
const [AMBER, RED] = [4, 2];

/** The traffic of a span over time. */
export function TrafficCharts({ axis, data }: {
  /** Its ends in Unix seconds. */
  readonly axis: readonly [number, number];
  /** The oldest first. */
  readonly data: readonly Traffic[];
}) {
  if (data.length === 0) return null;
  const { times, steps } = trafficPoints(data);
  const rates = (countOf: (step: Traffic) => number) =>
    steps.map((step) => step === null ? null : rateOf(step, countOf(step)));
  const quantiles = (field: "first_byte_ms" | "duration_ms") =>
    (["p50", "p95", "p99"] as const).map((name) => ({
      name,
      values: steps.map((step) => step?.[field]?.[name] ?? null),
    }));
  return (
    <>
      <Card title={TEXTS.overview.traffic}>
        <TimeChart
          label={TEXTS.overview.traffic}
          times={times}
          axis={axis}
          shape="steps"
          isStacked
          format={number}
          series={[
            {
              name: TEXTS.overview.succeededSeries,
              values: rates((step) => step.requests - failedOf(step)),
            },
            {
              name: TEXTS.overview.callerErrorSeries,
              color: AMBER,
              values: rates((step) => failuresOf(step).caller),
            },
            {
              name: TEXTS.overview.serviceErrorSeries,
              color: RED,
              values: rates((step) => failuresOf(step).service),
            },
          ]}
        />
      </Card>
      <Card title={TEXTS.overview.latency}>
        <TimeChart
          label={TEXTS.overview.latency}
          times={times}
          axis={axis}
          shape="steps"
          format={duration}
          series={quantiles("first_byte_ms")}
        />
      </Card>
      <Card title={TEXTS.overview.totalLatency}>
        <TimeChart
          label={TEXTS.overview.totalLatency}
          times={times}
          axis={axis}
          shape="steps"
          format={duration}
          series={quantiles("duration_ms")}
        />
      </Card>
      <Card title={TEXTS.overview.cost}>
        <TimeChart
          label={TEXTS.overview.cost}
          times={times}
          axis={axis}
          shape="steps"
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
          axis={axis}
          shape="steps"
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
