import { Histogram, REQUEST_SECONDS } from "../../../platform/lib/collections/histogram.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { TrafficTotals } from "../../../observers/metrics/traffic_totals.ts";
import type { LoggedRequest, RequestLog } from "../../../observers/request_log/request_log.ts";
import type { TimeRange } from "./time_page.ts";

/** What traffic can be broken down by. */
export const TRAFFIC_GROUPS = ["model", "provider", "account", "key"] as const;

/** One of {@linkcode TRAFFIC_GROUPS}. */
export type TrafficGroup = typeof TRAFFIC_GROUPS[number];

/** The traffic of a time range by one fact of the requests. */
export interface GroupedTraffic {
  /** Unix milliseconds from which on the groups have every request; later than asked for if there are too many. */
  readonly from: number;
  /** Those with the most requests first. */
  readonly groups: readonly { readonly name: string | null; readonly traffic: TrafficTotals }[];
  /** Further groups, which are left out. */
  readonly omitted: number;
}

/** The log of requests, from which groups are read. */
export interface LoggedTraffic {
  /** Null if requests are not logged. */
  readonly requests: Pick<RequestLog, "list"> | null;
  /** How long the log keeps requests, in milliseconds. */
  readonly retentionMs: number;
}

const PAGE = 500;
/** The newest requests of a range that are read. A page of a busy log may also end at its deadline. */
const MAX_REQUESTS = 50_000;
const MAX_PAGES = 400;
const MAX_GROUPS = 100;

/**
 * Sums the requests of a time range by a fact, from the log of requests, the newest first.
 *
 * @param now Unix milliseconds.
 * @throws {GatewayError} `invalid_request` naming `group_by` if requests are not logged, or no longer those of the
 * range; what the log throws.
 */
export async function groupTraffic(
  { requests, retentionMs }: LoggedTraffic,
  { by, range, now }: { readonly by: TrafficGroup; readonly range: TimeRange; readonly now: number },
): Promise<GroupedTraffic> {
  if (requests === null) {
    throw invalidField("group_by", 'expected none, as there is no log of requests (setting "request_log")');
  }
  const oldest = now - retentionMs;
  if (range.to <= oldest) {
    throw invalidField(
      "group_by",
      `expected a time range after ${textOf(oldest)}, up to which requests are not logged`,
    );
  }
  const sums = new Map<string | null, GroupSum>();
  const start = Math.max(range.from, oldest);
  let [from, after]: [number, number | undefined] = [start, undefined];
  for (let pages = 0, count = 0; pages < MAX_PAGES && count < MAX_REQUESTS; pages++) {
    const query = {
      from: start,
      to: range.to,
      order: "desc",
      limit: PAGE,
      ...after !== undefined && { after },
    } as const;
    const page = await requests.list(query);
    // A page comes from another thread or process, so that others work between pages.
    for (const request of page.requests) addTo(sums, factOf(request, by), request);
    count += page.requests.length;
    if (page.next === null) return grouped(sums, start);
    after = page.next;
    from = endOf(page.requests.at(-1)) ?? from;
  }
  return grouped(sums, from);
}

/** An instant for messages, to the minute. */
export function textOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16)}Z`;
}

function factOf({ servedModel, model, provider, accountId, keyId }: LoggedRequest, by: TrafficGroup): string | null {
  return { model: servedModel ?? model, provider, account: accountId, key: keyId }[by];
}

function endOf(request: LoggedRequest | undefined): number | undefined {
  return request === undefined ? undefined : request.receivedAt + request.durationMs;
}

interface GroupSum {
  requests: number;
  readonly errors: Record<string, number>;
  inputTokens: number;
  outputTokens: number;
  costUnits: bigint;
  readonly durations: Histogram;
  readonly firstBytes: Histogram;
}

/** Counts a request as the traffic does: without those of unknown paths, and with latencies of successful ones. */
function addTo(sums: Map<string | null, GroupSum>, name: string | null, request: LoggedRequest): void {
  const { endpoint, code, tokens, cost, status, firstByteMs, durationMs } = request;
  if (endpoint === null) return;
  let sum = sums.get(name);
  if (sum === undefined) {
    const [durations, firstBytes] = [new Histogram(REQUEST_SECONDS), new Histogram(REQUEST_SECONDS)];
    sum = { requests: 0, errors: {}, inputTokens: 0, outputTokens: 0, costUnits: 0n, durations, firstBytes };
    sums.set(name, sum);
  }
  sum.requests++;
  if (code !== null) sum.errors[code] = (sum.errors[code] ?? 0) + 1;
  sum.inputTokens += tokens?.input ?? 0;
  sum.outputTokens += tokens?.output ?? 0;
  sum.costUnits += cost ?? 0n;
  if (status >= 400 || firstByteMs === null) return;
  sum.durations.observe(durationMs / 1_000);
  sum.firstBytes.observe(firstByteMs / 1_000);
}

function grouped(sums: ReadonlyMap<string | null, GroupSum>, from: number): GroupedTraffic {
  const groups = [...sums].map(([name, { durations, firstBytes, ...sum }]) => ({
    name,
    traffic: { ...sum, durations: Array.from(durations.counts), firstBytes: Array.from(firstBytes.counts) },
  })).toSorted((one, other) => other.traffic.requests - one.traffic.requests);
  return { from, groups: groups.slice(0, MAX_GROUPS), omitted: Math.max(0, groups.length - MAX_GROUPS) };
}
