import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import { type Clock, secondsOf } from "../../platform/lib/basics/clock.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { REQUEST_SECONDS } from "../../platform/lib/collections/histogram.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { writeMoney } from "../../platform/lib/basics/money.ts";
import {
  KEPT_TRAFFIC_MS,
  TRAFFIC_SPANS,
  type TrafficHistory,
  type TrafficSpan,
  type TrafficStep,
} from "../../observers/metrics/traffic_history.ts";
import type { UnpricedCount } from "../../observers/metrics/request_counts.ts";
import { quantileOf, type TrafficTotals } from "../../observers/metrics/traffic_totals.ts";
import type { NearEnds } from "../../services/notifications/summary.ts";
import { type AdminRoute, adminRoute } from "./shared/admin_route.ts";
import { answerJson } from "./shared/answer.ts";
import { writeForecast } from "./shared/shown_account.ts";
import { instantIn, type TimeRange } from "./shared/time_page.ts";
import {
  groupTraffic,
  type LoggedTraffic,
  textOf,
  TRAFFIC_GROUPS,
  type TrafficGroup,
} from "./shared/traffic_groups.ts";

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
  readonly history: () => Promise<Pick<TrafficHistory, "read" | "between">>;
  readonly now: () => TrafficNow;
  /** Counts the jobs of the store that wait, by their kind. */
  readonly countJobs: () => Promise<Readonly<Record<string, number>>>;
  /** Reads what is near its end, as the last pass found it. */
  readonly nearEnds: () => Promise<NearEnds>;
}

/** Reads what `GET /admin/v1/traffic` answers of a span that ends now, or of a time range. */
export type ReadTraffic = (of: TrafficSpan | TimeRange) => Promise<ReadAnswer>;

/** The traffic of a span or a time range, as it is shown. */
export type ReadAnswer = JsonObject & {
  /** All steps as one. Unix seconds. */
  readonly total: JsonObject & { readonly from: number; readonly to: number };
};

/** Jobs and what is near its end are read at most this often, as they are in the store. */
const STORED_MS = 5_000;

/** Returns a function that reads the traffic of a span, and what is under way. */
export function trafficReader(
  { history, now, countJobs, nearEnds: readNearEnds, clock }: AdminTrafficOptions & {
    readonly clock: Pick<Clock, "monotonicMs">;
  },
): ReadTraffic {
  let stored: {
    readonly jobs: Readonly<Record<string, number>>;
    readonly nearEnds: NearEnds;
    readonly until: number;
  } | null = null;
  return async (of) => {
    if (stored === null || clock.monotonicMs() >= stored.until) {
      const [jobs, nearEnds] = await Promise.all([countJobs(), readNearEnds()]);
      stored = { jobs, nearEnds, until: clock.monotonicMs() + STORED_MS };
    }
    const { jobs, nearEnds } = stored;
    const kept = await history();
    const isSpan = typeof of === "string";
    const { steps, total } = isSpan ? kept.read(of) : kept.between(of);
    const { openStreams, memory, unpriced } = now();
    return {
      span: isSpan ? of : null,
      data: steps.map(writeStep),
      total: writeStep(total),
      now: {
        open_streams: openStreams,
        memory: { in_use: memory.inUse, limit: memory.limitBytes },
        jobs,
        unpriced: unpriced.map((each) => ({ ...each })),
        ...writeNearEnds(nearEnds),
      },
    };
  };
}

/** The dependencies of {@linkcode adminTrafficRoutes}. */
export interface TrafficRouteOptions {
  readonly read: ReadTraffic;
  readonly logged: LoggedTraffic;
  readonly clock: Pick<Clock, "now">;
}

/**
 * `GET /admin/v1/traffic?span&from&to&group_by`: requests, errors, tokens, cost and latencies in steps of the last
 * hour, day, … or of a time range, and by model, provider, account or key.
 */
export function adminTrafficRoutes({ read, logged, clock }: TrafficRouteOptions): AdminRoute[] {
  return [
    adminRoute(OPERATOR_ENDPOINTS.readTraffic, async ({ query }) => {
      const parameters = new URLSearchParams(query);
      const now = clock.now();
      const by = groupIn(parameters);
      const answer = await read(rangeIn(parameters, now) ?? spanIn(parameters));
      if (by === null) return answerJson(answer);
      const range = { from: Math.round(answer.total.from * MS), to: Math.round(answer.total.to * MS) };
      const { from, groups, omitted } = await groupTraffic(logged, { by, range, now });
      return answerJson({
        ...answer,
        groups: {
          by,
          from: from / MS,
          to: answer.total.to,
          omitted,
          data: groups.map(({ name, traffic }) => ({ name, ...writeTotals(traffic) })),
        },
      });
    }, { parameters: ["span", "from", "to", "group_by"] }),
  ];
}

const MS = 1_000;
/** A start that was exactly in time when it was sent is not too early when it arrives. */
const LATE_MS = 60_000;

/** The time range of a query; null if it has none. */
function rangeIn(parameters: URLSearchParams, now: number): TimeRange | null {
  const [from, to] = [instantIn(parameters, "from"), instantIn(parameters, "to") ?? now];
  if (from === null && !parameters.has("to")) return null;
  if (from === null) throw invalidField("from", 'expected the start of the time range that "to" ends');
  if (parameters.has("span")) throw invalidField("span", 'expected none, as "from" is given');
  const earliest = now - KEPT_TRAFFIC_MS;
  if (from < earliest - LATE_MS) {
    const [first, days] = [`${Math.ceil(earliest / MS)} (${textOf(earliest)})`, KEPT_TRAFFIC_MS / 86_400_000];
    const advice = "GET /admin/v1/usage has what was charged before";
    throw invalidField("from", `expected ${first} or later, as the last ${days} days are kept; ${advice}`);
  }
  if (from >= now) throw invalidField("from", "expected a time before now");
  if (from >= to) throw invalidField("to", 'expected a time after "from"');
  return { from, to };
}

function groupIn(parameters: URLSearchParams): TrafficGroup | null {
  const text = parameters.get("group_by");
  if (text === null) return null;
  const group = TRAFFIC_GROUPS.find((each) => each === text);
  if (group === undefined) throw invalidField("group_by", `expected one of ${TRAFFIC_GROUPS.join(", ")}`);
  return group;
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

function writeNearEnds({ accounts, budgets, keys }: NearEnds): JsonObject {
  return {
    ending: accounts.map(({ account, left, ...forecast }) => ({
      account,
      left: writeMoney(left),
      ...writeForecast(forecast),
    })),
    budgets: budgets.map(({ account, key, name, amount, per, spent, resetsAt }) => ({
      account,
      key,
      name,
      amount: writeMoney(amount),
      per,
      spent: writeMoney(spent),
      resets_at: resetsAt === null ? null : secondsOf(resetsAt),
    })),
    expiring: keys.map(({ account, key, name, expiresAt }) => ({
      account,
      key,
      name,
      expires_at: secondsOf(expiresAt),
    })),
  };
}

function writeStep({ from, to, traffic }: TrafficStep): ReadAnswer["total"] {
  return { from: from / MS, to: to / MS, ...writeTotals(traffic) };
}

function writeTotals(traffic: TrafficTotals): JsonObject {
  const { requests, errors, inputTokens, outputTokens, costUnits, durations, firstBytes } = traffic;
  return {
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
