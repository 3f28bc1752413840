import type { RecordedAttempt, RequestRecord } from "../../platform/http/request/request_record.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import { Histogram, REQUEST_SECONDS } from "../../platform/lib/collections/histogram.ts";
import type { Labels, MetricFamily, Sample } from "../../platform/lib/basics/metric_family.ts";
import type {
  CallCounts,
  HistogramCounts,
  RefusalCounts,
  RequestCounts,
  TokenCounts,
  UnpricedCount,
} from "./request_counts.ts";
import type { TrafficTotals } from "./traffic_totals.ts";

/** The facts of all requests of one endpoint that one provider served with one model. */
interface CallSeries {
  readonly labels: Labels;
  readonly of: Pick<CallCounts, "endpoint" | "provider" | "model">;
  /** Requests by status and code. */
  readonly outcomes: Map<string, Outcome>;
  readonly duration: Histogram;
  readonly firstByte: Histogram;
  readonly ends: Map<string, number>;
  readonly tokens: TokenSums;
  images: number;
  costUnits: bigint;
  savedUnits: bigint;
  extraUnits: bigint;
  droppedFields: number;
}

type TokenSums = { -readonly [Kind in keyof TokenCounts]: number };

interface Outcome {
  readonly status: number;
  readonly code: string;
  count: number;
}

/** The attempts at one provider with one outcome. */
interface AttemptSeries {
  readonly labels: Labels;
  readonly provider: string;
  readonly outcome: string;
  count: number;
  /** Failed attempts that were followed by another. */
  fallbacks: number;
}

/** The facts of a request by which it is counted. */
type ServedBy = Pick<RequestRecord, "endpoint" | "provider" | "servedModel">;

/**
 * The maximum number of combinations of endpoint, provider and model. Further ones are counted together as `other`, so
 * that a large catalog cannot fill the memory of the gateway or of Prometheus.
 */
const MAX_SERIES = 1_000;
const OTHER = "other";
/** The maximum number of combinations of a model and a refused field, which callers name. */
const MAX_REFUSALS = 200;
const UNITS_PER_USD = 1e10;
/**
 * The endpoint of requests for unknown paths. They are in no ratio and no total, so that a scanner neither hides a
 * failure nor looks like one.
 */
const NO_ENDPOINT = "none";

/** A failure of the gateway itself can come before the path is looked at. It counts as one of an endpoint. */
function endpointOf({ endpoint, status }: RequestRecord): string | null {
  return endpoint ?? (status >= 500 ? OTHER : null);
}

/** Counts requests from their records. One look-up and some additions for each request; labels are made once. */
export class RequestMetrics {
  readonly #calls = new Map<string, CallSeries>();
  readonly #attempts = new Map<string, AttemptSeries>();
  /** By model and field. */
  readonly #refusals = new Map<string, { -readonly [Field in keyof RefusalCounts]: RefusalCounts[Field] }>();
  /** The durations of the requests whose first byte is counted. */
  #served = new Histogram(REQUEST_SECONDS);

  readonly #unpriced = new Map<string, { -readonly [K in keyof UnpricedCount]: UnpricedCount[K] }>();

  /** @param onUnpriced Called once for each model and kind of usage without a price. Default: none. */
  constructor(
    readonly clock: Pick<Clock, "now">,
    readonly onUnpriced: (first: UnpricedCount) => void = () => {},
  ) {}

  /** Counts a request that has ended. */
  readonly observe = (record: RequestRecord): void => {
    if (record.isProbe) return;
    const { arrival: { receivedAt }, attempts, tokens } = record;
    const { provider, servedModel } = record;
    const series = this.#seriesOf({ endpoint: endpointOf(record), provider, servedModel });
    outcomeOf(series, record).count++;
    const seconds = (this.clock.now() - receivedAt) / 1000;
    series.duration.observe(seconds);
    const { firstByteMs } = record;
    if (record.status < 400 && firstByteMs !== null) {
      if (series.of.endpoint !== null) this.#served.observe(seconds);
      series.firstByte.observe(firstByteMs / 1000);
    }
    if (record.end !== null) series.ends.set(record.end, (series.ends.get(record.end) ?? 0) + 1);
    if (tokens !== null) addTokens(series.tokens, tokens);
    series.images += record.images;
    if (record.cost !== null) series.costUnits += record.cost;
    if (record.cacheSaved !== undefined) addSaved(series, record.cacheSaved);
    series.droppedFields += record.dropped.length;
    for (const { model, field } of record.refusedFields) this.#countRefusal({ model, field, count: 1 });
    for (const dimension of record.unpriced) this.#countUnpriced({ model: servedModel ?? "", dimension, count: 1 });
    for (let at = 0; at < attempts.length; at++) this.#countAttempt(attempts[at]!, at + 1 < attempts.length);
  };

  /** Takes what was counted, for {@linkcode RequestMetrics.add} in another thread. Nothing is counted afterwards. */
  take(): RequestCounts {
    const calls = [...this.#calls.values()].map((series): CallCounts => {
      const { of, labels: _, duration, firstByte, outcomes, ends, ...sums } = series;
      return {
        ...of,
        ...sums,
        outcomes: [...outcomes.values()],
        ends: [...ends],
        duration: countsOf(duration),
        firstByte: countsOf(firstByte),
      };
    });
    const attempts = [...this.#attempts.values()].map(({ provider, outcome, count, fallbacks }) => ({
      provider,
      outcome,
      count,
      fallbacks,
    }));
    const refusals = [...this.#refusals.values()];
    const counts = { calls, attempts, refusals, served: countsOf(this.#served), unpriced: this.unpriced() };
    this.#refusals.clear();
    this.#calls.clear();
    this.#attempts.clear();
    this.#unpriced.clear();
    this.#served = new Histogram(REQUEST_SECONDS);
    return counts;
  }

  /** Adds what another thread counted. */
  add({ calls, attempts, refusals, served, unpriced }: RequestCounts): void {
    for (const each of refusals) this.#countRefusal(each);
    for (const { endpoint, provider, model, outcomes, duration, firstByte, ends, ...sums } of calls) {
      const series = this.#seriesOf({ endpoint, provider, servedModel: model });
      for (const { count, ...outcome } of outcomes) outcomeOf(series, outcome).count += count;
      series.duration.add(duration.counts, duration.sum);
      series.firstByte.add(firstByte.counts, firstByte.sum);
      for (const [end, count] of ends) series.ends.set(end, (series.ends.get(end) ?? 0) + count);
      addTokens(series.tokens, sums.tokens);
      series.images += sums.images;
      series.costUnits += sums.costUnits;
      series.savedUnits += sums.savedUnits;
      series.extraUnits += sums.extraUnits;
      series.droppedFields += sums.droppedFields;
    }
    for (const { provider, outcome, count, fallbacks } of attempts) {
      const series = this.#attemptsOf(provider, outcome);
      series.count += count;
      series.fallbacks += fallbacks;
    }
    this.#served.add(served.counts, served.sum);
    for (const each of unpriced) this.#countUnpriced(each);
  }

  /** Reported usage without a price, since the start. */
  unpriced(): UnpricedCount[] {
    return [...this.#unpriced.values()].map((each) => ({ ...each }));
  }

  #countUnpriced({ model, dimension, count }: UnpricedCount): void {
    const key = `${model}\n${dimension}`;
    const known = this.#unpriced.get(key);
    if (known !== undefined) known.count += count;
    else if (this.#unpriced.size < MAX_SERIES) {
      this.#unpriced.set(key, { model, dimension, count });
      this.onUnpriced({ model, dimension, count });
    }
  }

  /** Returns all counts since the start. */
  families(): MetricFamily[] {
    const calls = [...this.#calls.values()];
    const attempts = [...this.#attempts.values()];
    return [
      {
        name: "switchyard_requests_total",
        help: "Requests that have ended, by HTTP status and error code. The code of a success is empty.",
        type: "counter",
        samples: calls.flatMap(({ labels, outcomes }) =>
          [...outcomes.values()].map(({ status, code, count }) => ({
            labels: { ...labels, status, code },
            value: count,
          }))
        ),
      },
      histogram(
        "switchyard_request_duration_seconds",
        "Time from the arrival of a request to the end of its response and its charge.",
        calls,
        "duration",
      ),
      histogram(
        "switchyard_first_byte_seconds",
        "Time from the arrival of a successful request to the first byte of the response's body.",
        calls,
        "firstByte",
      ),
      {
        name: "switchyard_call_ends_total",
        help: "Charged calls by their end: completed, cut off by the vendor or the gateway, left by the caller.",
        type: "counter",
        samples: calls.flatMap(({ labels, ends }) =>
          [...ends].map(([end, value]) => ({ labels: { ...labels, end }, value }))
        ),
      },
      {
        name: "switchyard_tokens_total",
        help: "Charged tokens. cache_read and cache_write are parts of input; reasoning is a part of output.",
        type: "counter",
        samples: calls.flatMap(tokenSamples),
      },
      counter("switchyard_images_total", "Images of responses.", calls, ({ images }) => images),
      counter(
        "switchyard_cost_usd_total",
        "Charged amount in US dollars, rounded to a double. The ledger is exact.",
        calls,
        ({ costUnits }) => Number(costUnits) / UNITS_PER_USD,
      ),
      counter(
        "switchyard_cache_saved_usd_total",
        "What requests cost less than without vendors' prompt caches, in US dollars.",
        calls,
        ({ savedUnits }) => Number(savedUnits) / UNITS_PER_USD,
      ),
      counter(
        "switchyard_cache_extra_usd_total",
        "What requests cost more than without vendors' prompt caches, because they wrote to them, in US dollars.",
        calls,
        ({ extraUnits }) => Number(extraUnits) / UNITS_PER_USD,
      ),
      counter(
        "switchyard_dropped_fields_total",
        "Fields of requests that the vendor's format or model does not support.",
        calls,
        ({ droppedFields }) => droppedFields,
      ),
      {
        name: "switchyard_unknown_refusals_total",
        help: "Fields of requests that a vendor refused with 400 although the facts of the model let them pass.",
        type: "counter",
        samples: [...this.#refusals.values()].map(({ model, field, count }) => ({
          labels: { model, field },
          value: count,
        })),
      },
      {
        name: "switchyard_unpriced_usage_total",
        help: "Requests with reported usage that has no price, by model and kind of usage.",
        type: "counter",
        samples: this.unpriced().map(({ model, dimension, count }) => ({
          labels: { model, dimension },
          value: count,
        })),
      },
      {
        name: "switchyard_attempts_total",
        help: "Attempts to serve a request at a provider, by outcome: ok, or the kind of the failure.",
        type: "counter",
        samples: attempts.map(({ labels, count }) => ({ labels, value: count })),
      },
      {
        name: "switchyard_fallbacks_total",
        help: "Failed attempts after which another provider or model was tried, by the failed provider.",
        type: "counter",
        samples: attempts.filter(({ fallbacks }) => fallbacks > 0).map(({ labels, fallbacks }) => ({
          labels,
          value: fallbacks,
        })),
      },
    ];
  }

  /** What all requests since the start amount to, except for those of unknown paths. */
  totals(): TrafficTotals {
    const errors: Record<string, number> = {};
    const durations = Array.from(this.#served.counts);
    const firstBytes = new Array<number>(durations.length).fill(0);
    let [requests, inputTokens, outputTokens, costUnits] = [0, 0, 0, 0n];
    for (const series of this.#calls.values()) {
      if (series.of.endpoint === null) continue;
      for (const { code, count } of series.outcomes.values()) {
        requests += count;
        if (code !== "") errors[code] = (errors[code] ?? 0) + count;
      }
      inputTokens += series.tokens.input;
      outputTokens += series.tokens.output;
      costUnits += series.costUnits;
      addCounts(firstBytes, series.firstByte);
    }
    return { requests, errors, inputTokens, outputTokens, costUnits, durations, firstBytes };
  }

  #seriesOf({ endpoint, provider, servedModel }: ServedBy): CallSeries {
    const key = `${endpoint}\n${provider}\n${servedModel}`;
    const known = this.#calls.get(key);
    if (known !== undefined) return known;
    const isFull = this.#calls.size >= MAX_SERIES;
    const own = { endpoint: endpoint ?? NO_ENDPOINT, provider: provider ?? "", model: servedModel ?? "" };
    const labels = isFull ? { endpoint: own.endpoint, provider: OTHER, model: OTHER } : own;
    const kept = isFull ? `${endpoint}\n${OTHER}` : key;
    const of = isFull ? { endpoint, provider: OTHER, model: OTHER } : { endpoint, provider, model: servedModel };
    return getOrAdd(this.#calls, kept, () => newSeries(labels, of));
  }

  #countRefusal({ model, field, count }: RefusalCounts): void {
    const isKnown = this.#refusals.has(`${model}\n${field}`);
    const own = isKnown || this.#refusals.size < MAX_REFUSALS ? { model, field } : { model: OTHER, field: OTHER };
    getOrAdd(this.#refusals, `${own.model}\n${own.field}`, () => ({ ...own, count: 0 })).count += count;
  }

  #countAttempt({ provider, code }: RecordedAttempt, isFollowed: boolean): void {
    const series = this.#attemptsOf(provider, code ?? "ok");
    series.count++;
    if (isFollowed) series.fallbacks++;
  }

  #attemptsOf(provider: string, outcome: string): AttemptSeries {
    const isFull = this.#attempts.size >= MAX_SERIES;
    return this.#attempts.get(`${provider}\n${outcome}`) ??
      getOrAdd(this.#attempts, isFull ? OTHER : `${provider}\n${outcome}`, () => {
        const own = { provider: isFull ? OTHER : provider, outcome: isFull ? OTHER : outcome };
        return { ...own, labels: own, count: 0, fallbacks: 0 };
      });
  }
}

function addCounts(sums: number[], { counts }: Histogram): void {
  for (let range = 0; range < sums.length; range++) sums[range]! += counts[range]!;
}

/** A counter does not fall, so what was saved and what writes cost are counted apart. */
function addSaved(series: CallSeries, saved: bigint): void {
  if (saved > 0n) series.savedUnits += saved;
  else series.extraUnits -= saved;
}

function countsOf({ counts, sum }: Histogram): HistogramCounts {
  return { counts: Array.from(counts), sum };
}

function newSeries(labels: Labels, of: CallSeries["of"]): CallSeries {
  return {
    labels,
    of,
    outcomes: new Map(),
    duration: new Histogram(REQUEST_SECONDS),
    firstByte: new Histogram(REQUEST_SECONDS),
    ends: new Map(),
    tokens: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
    images: 0,
    costUnits: 0n,
    savedUnits: 0n,
    extraUnits: 0n,
    droppedFields: 0,
  };
}

function outcomeOf({ outcomes }: CallSeries, { status, code }: Pick<RequestRecord, "status" | "code">): Outcome {
  return getOrAdd(outcomes, code === null || code === "" ? String(status) : `${status} ${code}`, () => ({
    status,
    code: code ?? "",
    count: 0,
  }));
}

function addTokens(sums: TokenSums, { input, cacheRead, cacheWrite, output, reasoning }: TokenCounts): void {
  sums.input += input;
  sums.cacheRead += cacheRead;
  sums.cacheWrite += cacheWrite;
  sums.output += output;
  sums.reasoning += reasoning;
}

function tokenSamples({ labels, tokens }: CallSeries): Sample[] {
  const { input, cacheRead, cacheWrite, output, reasoning } = tokens;
  const counts = { input, cache_read: cacheRead, cache_write: cacheWrite, output, reasoning };
  return Object.entries(counts).filter(([, value]) => value > 0)
    .map(([type, value]) => ({ labels: { ...labels, type }, value }));
}

function counter(
  name: string,
  help: string,
  calls: readonly CallSeries[],
  valueOf: (series: CallSeries) => number,
): MetricFamily {
  const samples = calls.map((series) => ({ labels: series.labels, value: valueOf(series) }));
  return { name, help, type: "counter", samples: samples.filter(({ value }) => value > 0) };
}

function histogram(
  name: string,
  help: string,
  calls: readonly CallSeries[],
  field: "duration" | "firstByte",
): MetricFamily {
  return { name, help, type: "histogram", samples: calls.flatMap((each) => each[field].samples(name, each.labels)) };
}

function getOrAdd<V>(map: Map<string, V>, key: string, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, value = make());
  return value;
}
