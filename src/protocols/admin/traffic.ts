import { OPERATOR_ENDPOINTS } from "../../endpoints/operators.ts";
import type { Clock } from "../../lib/clock.ts";
import { invalidField } from "../../lib/gateway_error.ts";
import { REQUEST_SECONDS } from "../../lib/histogram.ts";
import type { JsonObject } from "../../lib/json_object.ts";
import { writeMoney } from "../../lib/money.ts";
import {
  TRAFFIC_SPANS,
  type TrafficHistory,
  type TrafficSpan,
  type TrafficStep,
} from "../../metrics/traffic_history.ts";
import type { UnpricedCount } from "../../metrics/request_counts.ts";
import { quantileOf } from "../../metrics/traffic_totals.ts";
import type { EndingAccount } from "../../notifications/summary.ts";
import { type AdminRoute, adminRoute } from "./admin_route.ts";
import { answerJson } from "./answer.ts";
import { writeForecast } from "./shown_account.ts";

/** What is under way at the moment. */
export interface TrafficNow {
  readonly openStreams: number;
  /** Memory that requests hold, and may hold, in bytes. */
  readonly memory: { readonly inUse: number; readonly limitBytes: number };
  /** Requests with reported usage that has no price, since the start of the gateway. */
  readonly unpriced: readonly UnpricedCount[];
}

/** The dependencies of {@linkcode trafficReader}. */
export interface AdminTrafficOptions {
  readonly history: () => Promise<Pick<TrafficHistory, "read">>;
  readonly now: () => TrafficNow;
  /** Counts the jobs of the store that wait, by their kind. */
  readonly countJobs: () => Promise<Readonly<Record<string, number>>>;
  /** Reads the accounts whose balances end soon, as the last pass found them. */
  readonly ending: () => Promise<readonly EndingAccount[]>;
}

/** Reads what `GET /admin/v1/traffic` answers. */
export type ReadTraffic = (span: TrafficSpan) => Promise<JsonObject>;

/** Jobs and ending balances are read at most this often, as they are in the store. */
const STORED_MS = 5_000;

/** Returns a function that reads the traffic of a span, and what is under way. */
export function trafficReader(
  { history, now, countJobs, ending: readEnding, clock }: AdminTrafficOptions & {
    readonly clock: Pick<Clock, "monotonicMs">;
  },
): ReadTraffic {
  let stored: {
    readonly jobs: Readonly<Record<string, number>>;
    readonly ending: readonly EndingAccount[];
    readonly until: number;
  } | null = null;
  return async (span) => {
    if (stored === null || clock.monotonicMs() >= stored.until) {
      const [jobs, ending] = await Promise.all([countJobs(), readEnding()]);
      stored = { jobs, ending, until: clock.monotonicMs() + STORED_MS };
    }
    const { jobs, ending } = stored;
    const { steps, total } = (await history()).read(span);
    const { openStreams, memory, unpriced } = now();
    return {
      span,
      data: steps.map(writeStep),
      total: writeStep(total),
      now: {
        open_streams: openStreams,
        memory: { in_use: memory.inUse, limit: memory.limitBytes },
        jobs,
        unpriced: unpriced.map((each) => ({ ...each })),
        ending: ending.map(({ account, left, ...forecast }) => ({
          account,
          left: writeMoney(left),
          ...writeForecast(forecast),
        })),
      },
    };
  };
}

/** `GET /admin/v1/traffic?span`: requests, errors, tokens, cost and latencies in steps of the last hour, day, … */
export function adminTrafficRoutes(read: ReadTraffic): AdminRoute[] {
  return [
    adminRoute(
      OPERATOR_ENDPOINTS.readTraffic,
      async ({ query }) => answerJson(await read(spanIn(new URLSearchParams(query)))),
      { parameters: ["span"] },
    ),
  ];
}

/**
 * The span that a query names; default: the last hour.
 *
 * @throws {GatewayError} `invalid_request` naming `span`.
 */
export function spanIn(parameters: URLSearchParams): TrafficSpan {
  const text = parameters.get("span") ?? "hour";
  const span = TRAFFIC_SPANS.find((each) => each === text);
  if (span === undefined) throw invalidField("span", `expected one of ${TRAFFIC_SPANS.join(", ")}`);
  return span;
}

function writeStep({ from, to, traffic }: TrafficStep): JsonObject {
  const { requests, errors, inputTokens, outputTokens, costUnits, durations, firstBytes } = traffic;
  return {
    from: from / 1_000,
    to: to / 1_000,
    requests,
    errors: { ...errors },
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cost: writeMoney(costUnits),
    first_byte_ms: writeQuantiles(firstBytes),
    duration_ms: writeQuantiles(durations),
  };
}

/** Null without requests. */
function writeQuantiles(counts: readonly number[]): JsonObject | null {
  const ms = (quantile: number) => Math.round((quantileOf(quantile, counts, REQUEST_SECONDS) ?? 0) * 1_000);
  return counts.every((count) => count === 0) ? null : { p50: ms(0.5), p95: ms(0.95), p99: ms(0.99) };
}
