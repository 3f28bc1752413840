import { cpuUsage } from "node:process";
import { type MetricFamily, single } from "../../../platform/lib/basics/metric_family.ts";
import { unhandledErrors } from "../../../platform/lib/process/unhandled.ts";
import { THREAD_KINDS } from "../../../platform/lib/process/heartbeats.ts";
import { processHeartbeats } from "../../../platform/lib/process/own_heartbeat.ts";
import type { CountedLog } from "../../../observers/metrics/counted_log.ts";
import type { CircuitState } from "../../../vendors/routing/circuit.ts";
import type { RequestLog } from "../../../observers/request_log/request_log.ts";
import type { Tracing } from "../../../observers/tracing/tracing.ts";
import type { LargeRequests } from "../../../threads/serving/large_requests.ts";
import type { OwnedServices } from "../opening/own.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const storedFileModule = new Late(() => import("../../../services/stored_files/stored_file_metrics.ts"));
const summaryModule = new Late(() => import("../../../services/notifications/summary.ts"));

/** The parts whose state is measured when metrics are read. */
export interface MeasuredParts
  extends
    Pick<OwnedServices, "breaker" | "clock" | "counts" | "droppedLogLines" | "files" | "memory" | "openStreams">,
    Pick<OwnedServices, "onRecordsRead"> {
  readonly config: Pick<OwnedServices["config"], "providers">;
  readonly slots: Pick<OwnedServices["slots"], "waitingByProvider">;
  readonly store: Pick<OwnedServices["store"], "isReady" | "metrics" | "get" | "scan">;
  readonly requestLog: Pick<RequestLog, "stats"> | null;
  readonly tracing: Pick<Tracing, "exported" | "dropped"> | null;
  readonly large: Pick<LargeRequests, "threads">;
}

/** Reading the index of jobs costs time, so its numbers are used again for this long. */
const STORE_READ_MS = 10_000;
/** Each file of a caller is read for their sum. */
const FILES_READ_MS = 300_000;

/** Creates the function that returns all metrics of the gateway. */
export function gatewayMetrics(parts: MeasuredParts): () => Promise<MetricFamily[]> {
  const { counts, store } = parts;
  const storeFamilies = usedAgain(parts, STORE_READ_MS, async () => {
    const families = await store.metrics();
    return [...families, openBatchFamily(families)];
  });
  const fileFamilies = usedAgain(
    parts,
    FILES_READ_MS,
    async () => await (await storedFileModule.load()).storedFileFamilies(store),
  );
  return async () => [
    ...await requestFamilies(parts),
    ...circuitFamilies(parts),
    haltFamily(parts),
    waitingFamily(parts),
    ...webhookFamilies(counts.log),
    counts.lines.family(),
    ...await storeFamilies(),
    ...await fileFamilies(),
    ...await (await summaryModule.load()).notificationFamilies(store),
    single("gauge", "switchyard_ready", "1 if the store takes reads and writes.", await store.isReady() ? 1 : 0),
    ...processFamilies(parts),
    ...observerFamilies(parts),
    ...threadFamilies(),
    counts.loopLag.family(),
    counts.log.family(),
  ];
}

/** Reads metrics again after some time only. Those that cannot be read are left out: `switchyard_ready` says why. */
function usedAgain(
  { clock }: Pick<MeasuredParts, "clock">,
  maxAgeMs: number,
  read: () => Promise<readonly MetricFamily[]>,
): () => Promise<readonly MetricFamily[]> {
  let last: { readonly at: number; readonly families: Promise<readonly MetricFamily[]> } | null = null;
  return () => {
    const now = clock.monotonicMs();
    if (last === null || now - last.at >= maxAgeMs) last = { at: now, families: read().catch(() => []) };
    return last.families;
  };
}

/** Each open batch has one job that runs it. */
function openBatchFamily(families: readonly MetricFamily[]): MetricFamily {
  const jobs = families.find(({ name }) => name === "switchyard_jobs")?.samples ?? [];
  const runs = jobs.find(({ labels }) => labels.kind === "batch_run")?.value ?? 0;
  return single("gauge", "switchyard_open_batches", "Batches that have not ended.", runs);
}

const STATES: readonly CircuitState[] = ["closed", "half_open", "open"];

function circuitFamilies({ breaker }: MeasuredParts): MetricFamily[] {
  const health = breaker.health();
  return [
    {
      name: "switchyard_provider_state",
      help: "1 for the state of each used provider: ready, degraded, resting or misconfigured.",
      type: "gauge",
      samples: health.map(({ provider, state }) => ({ labels: { provider, state }, value: 1 })),
    },
    {
      name: "switchyard_circuits",
      help: "Circuits of models at providers by state.",
      type: "gauge",
      samples: health.flatMap(({ provider, models }) =>
        STATES.map((state) => ({
          labels: { provider, state },
          value: models.filter((model) => model.state === state).length,
        }))
      ),
    },
  ];
}

function haltFamily({ config }: MeasuredParts): MetricFamily {
  return {
    name: "switchyard_provider_halted",
    help: "1 for each provider that the operator has taken out of service, with its state: drain or off.",
    type: "gauge",
    samples: Object.entries(config.providers).flatMap(([provider, { halt }]) =>
      halt === undefined ? [] : [{ labels: { provider, state: halt.state }, value: 1 }]
    ),
  };
}

/** Providers are those of the configuration, so their number is bounded. */
function waitingFamily({ slots }: MeasuredParts): MetricFamily {
  return {
    name: "switchyard_provider_waiting_attempts",
    help: "Attempts that wait for a free place within the limits of their provider, of providers with limits.",
    type: "gauge",
    samples: [...slots.waitingByProvider()].map(([provider, value]) => ({ labels: { provider }, value })),
  };
}

/** The log events of webhook attempts, by outcome. */
const WEBHOOK_EVENTS = {
  delivered: "webhook_delivered",
  failed: "webhook_attempt_failed",
  exhausted: "webhook_exhausted",
} as const;

function webhookFamilies(log: CountedLog): MetricFamily[] {
  return [{
    name: "switchyard_webhook_attempts_total",
    help: "Attempts to deliver webhooks by outcome. After an exhausted one there is no further attempt.",
    type: "counter",
    samples: Object.entries(WEBHOOK_EVENTS).map(([outcome, event]) => ({
      labels: { outcome },
      value: log.count(event),
    })),
  }];
}

function processFamilies(parts: MeasuredParts): MetricFamily[] {
  const { counts, clock, memory, openStreams, files, large, droppedLogLines } = parts;
  const { rss, heapUsed } = Deno.memoryUsage();
  const { user, system } = cpuUsage();
  const { bytes, quotaBytes } = files.quota.usage;
  return [
    single("gauge", "switchyard_open_streams", "Response streams that are open.", openStreams.count),
    single("gauge", "switchyard_large_request_threads", "Threads for large requests.", large.threads),
    single("gauge", "switchyard_memory_budget_bytes", "Memory that requests hold.", memory.inUse),
    single("gauge", "switchyard_memory_budget_limit_bytes", "Memory that requests may hold.", memory.limitBytes),
    single("gauge", "switchyard_files_bytes", "Disk space of copies of results.", bytes),
    ...quotaBytes === null
      ? []
      : [single("gauge", "switchyard_files_quota_bytes", "Disk space for copies of results.", quotaBytes)],
    single(
      "counter",
      "switchyard_unhandled_total",
      "Errors that nothing in the gateway has handled; each is in the log.",
      unhandledErrors(),
    ),
    single("counter", "switchyard_log_lines_dropped_total", "Log lines that could not be written.", droppedLogLines()),
    single("gauge", "switchyard_uptime_seconds", "Time since the start.", (clock.now() - counts.startedAt) / 1000),
    single("counter", "process_cpu_seconds_total", "Processor time of the process.", (user + system) / MICROSECONDS),
    single("gauge", "process_resident_memory_bytes", "Memory of the process.", rss),
    single("gauge", "process_heap_bytes", "Heap of the main thread.", heapUsed),
  ];
}

/** What the log of requests and tracing lost. They are 0 while these are off, so that alerts can use them. */
function observerFamilies({ requestLog, tracing }: MeasuredParts): MetricFamily[] {
  const { dropped = 0, skipped = 0, queued = 0, droppedBodies = 0 } = requestLog?.stats ?? {};
  return [
    {
      name: "switchyard_request_log_dropped_total",
      help: "Requests that were not logged, because the log was too slow or failed, or an address without a key sent " +
        "too many; and those whose bodies could not be kept.",
      type: "counter",
      samples: [
        { labels: { reason: "queue" }, value: dropped },
        { labels: { reason: "anonymous" }, value: skipped },
        { labels: { reason: "bodies" }, value: droppedBodies },
      ],
    },
    single("gauge", "switchyard_request_log_queued", "Rows of the log of requests that are not written yet.", queued),
    single("counter", "switchyard_spans_exported_total", "Spans that the collector accepted.", tracing?.exported ?? 0),
    single("counter", "switchyard_spans_dropped_total", "Spans that were lost.", tracing?.dropped ?? 0),
  ];
}

const MICROSECONDS = 1e6;

/** What the watch has found. All are 0 where there is no watch, as in a program that embeds the gateway. */
function threadFamilies(): MetricFamily[] {
  const heartbeats = processHeartbeats();
  return [
    {
      name: "switchyard_event_loop_stalls_total",
      help: "Times that the event loop of a thread stood still for five seconds, by the kind of thread.",
      type: "counter",
      samples: THREAD_KINDS.map((kind) => ({ labels: { thread: kind }, value: heartbeats?.stallsOf(kind) ?? 0 })),
    },
    single(
      "gauge",
      "switchyard_lost_threads",
      "Threads that did not answer a stop within ten seconds, and go on.",
      heartbeats?.lost ?? 0,
    ),
  ];
}

/** Isolates send what they have counted first. */
async function requestFamilies({ counts, onRecordsRead }: MeasuredParts): Promise<readonly MetricFamily[]> {
  await Promise.all(onRecordsRead.map((onRead) => onRead()));
  return counts.requests.families();
}
