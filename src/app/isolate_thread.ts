/**
 * The entry module of an isolate: a thread that accepts connections. It answers small text requests, and sends all
 * other requests to the main thread, which has the store, the money and the other endpoints.
 */
import { parentPort, workerData } from "node:worker_threads";
import { createAuthenticate } from "../billing/authenticate.ts";
import { createKeyRing } from "../billing/key_ring.ts";
import { OpenStreams } from "../calls/stream_relay.ts";
import { capturedBodyBytes } from "../config/request_log_section.ts";
import type { CapturedBodies } from "../http/body_capture.ts";
import { HeaderFields } from "../http/headers.ts";
import { hostOf, isHost } from "../http/host.ts";
import { listen, type Listening } from "../http/listen.ts";
import {
  createRequestHandler,
  errorLocation,
  type RequestHandlerOptions,
  type RequestRouter,
} from "../http/request_handler.ts";
import type { RequestRecord } from "../http/request_record.ts";
import { type FlaggedBreaker, flaggedBreaker } from "../isolates/flagged_breaker.ts";
import type { FromIsolate, IsolateData, ToIsolate } from "../isolates/messages.ts";
import { OpenRequests } from "../isolates/open_requests.ts";
import { Outbox } from "../isolates/outbox.ts";
import { recordMessageOf } from "../isolates/record_message.ts";
import { relay } from "../isolates/relay.ts";
import { RecordWriter } from "../isolates/written_records.ts";
import { readMessages } from "../isolates/wire.ts";
import { isSurelySmall, isTextRequest } from "../large_requests/large_route.ts";
import { systemClock } from "../lib/clock.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import { MemoryBudget } from "../lib/memory_budget.ts";
import { ThreadUse } from "../lib/thread_use.ts";
import { readCidr } from "../net/address.ts";
import type { OwnAddress } from "../net/target.ts";
import { withReplays } from "../replays/replay_route.ts";
import { Journal } from "../store/journal/journal.ts";
import { BoundedMemory, type KeptValues } from "../texts/bounded_memory.ts";
import type { KeptReasoning } from "../texts/reasoning_memory.ts";
import { useTokenCounter } from "../texts/token_estimate.ts";
import { nearMemory } from "../thread_state/near_memory.ts";
import { JournaledCharges } from "../thread_state/journaled_charges.ts";
import { LeasedMeter } from "../thread_state/leased_meter.ts";
import type { LeaseReport } from "../thread_state/messages.ts";
import { RemoteState } from "../thread_state/remote_state.ts";
import { traceBySampling } from "../tracing/sampling.ts";
import { limitsByProvider } from "../upstreams/provider_limits.ts";
import { type ConfiguredParts, openConfiguredParts } from "./configured_parts.ts";
import { replayOptions } from "./replays.ts";
import { createRouter } from "./router.ts";
import { routerOptions } from "./router_options.ts";
import { toCallerError } from "./storage_error.ts";
import { withStoredReplies } from "./thread_replies.ts";
import { openThreadJournal } from "./thread_journal.ts";
import { threadRoutes } from "./thread_routes.ts";

const data = workerData as IsolateData;
const clock = systemClock;
const outbox = new Outbox<FromIsolate>((messages, transfer) => parentPort!.postMessage(messages, transfer));
const state = new RemoteState({ post, flush: () => outbox.flush(), onWaiting() {} }, data);
const { log, store } = state;
const journal = new Journal({ log });
openThreadJournal(journal, data.journal);
const writableFlag = new Int32Array(data.writableFlag);
const charges: JournaledCharges = new JournaledCharges({
  journal,
  storeLimits: data.storeLimits,
  clock,
  onCharged: (canWait) => meter.onCharged(canWait),
});
const meter: LeasedMeter = new LeasedMeter({
  remote: state.meter,
  charges,
  clock,
  log,
  isWritable: () => Atomics.load(writableFlag, 0) === 1,
  report: sendReport,
});
state.onGrant = (grant) => meter.onGrant(grant);
const ownAddresses: OwnAddress[] = [...data.own];
const use = new ThreadUse(data.useBuffer, data.thread);
const openStreams = new OpenStreams(use);
const keys = createKeyRing({ store, clock });
const memory = new MemoryBudget(data.memoryBytes, { use, limitBytes: data.allMemoryBytes });
const ownReasoning = new BoundedMemory<KeptReasoning>(clock);
const ownItems = new BoundedMemory<string>(clock);
const reasoning = await withStoredReplies(
  nearMemory(ownReasoning, state.reasoning as KeptValues<KeptReasoning>),
  { kind: "reasoning", config: data.config, store, clock, near: ownReasoning },
);
const items = await withStoredReplies(
  nearMemory(ownItems, state.items),
  { kind: "item", config: data.config, store, clock, near: ownItems },
);
const breaker: FlaggedBreaker = flaggedBreaker({
  shared: state.breaker,
  flag: data.circuitFlag,
  clock,
  onSuccess: () => sendWrittenLater(),
});
useTokenCounter((text) => state.countTokens(text));
let isDraining = false;
let listening: Listening | null = null;
/** The number of own requests whose record is not sent. */
let openRecords = 0;
const openRequests = new OpenRequests(clock, (records) => {
  post({ type: "open-requests", requests: records.map((record) => recordMessageOf(record, null)) });
});
let hasFailed = false;
const recordWriter = new RecordWriter({ clock, hasRows: data.hasRows, countsRequests: data.countsRequests });
/** The ids of written requests that were announced. */
const announcedIds: string[] = [];
let stopWritten: (() => void) | null = null;
/** How long what is written of a request waits for others. A report of leases takes it along before. */
const WRITTEN_MS = 60;
let onNoRecords: () => void = () => {};

/** How long a stop waits for the records of the last requests. They follow the charges. */
const LAST_RECORDS_MS = 1_000;
/** How long whole replies have to end after an error that nothing has caught. */
const FAILED_GRACE_MS = 10_000;
/** How long a stop waits until the last charges are in the ledger. */
const LAST_CHARGES_MS = 5_000;

/** What follows from one configuration. A request uses the one in force when it arrived. */
interface Generation {
  readonly parts: ConfiguredParts;
  readonly router: RequestRouter;
}

let current = await openGeneration(data, null);
let changing: Promise<void> = Promise.resolve();
const router: RequestRouter = {
  match: (...request) => current.router.match(...request),
  methodsOf: (...request) => current.router.methodsOf(...request),
  rendererFor: (...request) => current.router.rendererFor(...request),
};
const handlerOptions: RequestHandlerOptions = {
  router,
  log,
  clock,
  memory,
  errorOf: toCallerError,
  isDraining: () => isDraining,
  trustedProxies: data.config.server.trustedProxies.map(readCidr),
  traceOf: data.config.tracing === null ? null : traceBySampling(data.config.tracing.ratio),
  docsUrl: () => data.config.server.docsUrl ?? `${data.baseUrl}/docs`,
  observer: sendRecord,
  onArrival: (record) => openRequests.add(record),
};
const handler = createRequestHandler(handlerOptions);
/** Refuses a request that the main thread does not take, as while it ends, in the protocol of its path. */
const refuse = createRequestHandler({ ...handlerOptions, router: { ...router, match: unreachable } });

parentPort!.on("message", (posted: unknown) => {
  for (const message of readMessages<ToIsolate>(posted)) take(message);
});
globalThis.addEventListener("error", (event) => {
  event.preventDefault();
  void fail(event.error);
});
globalThis.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  void fail(event.reason);
});
await open();

async function open(): Promise<void> {
  try {
    listening = await listen({ ...data.listen, reusePort: true, checksDescriptors: false, handler: answer, log });
    post({ type: "listening" });
  } catch (error) {
    post({ type: "unable", reason: error instanceof Error ? error.name : typeof error });
  }
}

function answer(request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>): Response | Promise<Response> {
  // A host with a slash would change the path of the address; the handler refuses it.
  if (isOwn(request) || !isHost(hostOf(request, new HeaderFields(request.headers)) ?? "")) {
    openRecords++;
    return handler(request, info);
  }
  return relay(request, info, data.relay).catch(() => {
    if (request.signal.aborted) return new Response(null, { status: 503 }); // its caller has left
    openRecords++;
    return refuse(request, info);
  });
}

function unreachable(): never {
  throw new GatewayError("overloaded", "The main thread of the gateway does not take requests now. Retry later", {
    retryAfterSeconds: 1,
  });
}

/** Whether this thread answers a request. Others need the main thread, or a thread for large requests. */
function isOwn(request: Request): boolean {
  if (request.method !== "POST") return false;
  const { url } = request;
  const start = url.indexOf("/", "https://".length);
  const end = url.indexOf("?", start);
  if (!isTextRequest("POST", url.slice(start, end < 0 ? undefined : end))) return false;
  const { headers } = request;
  // Streams that can be resumed are all on the main thread.
  return isSurelySmall(headers.get("content-length"), current.parts.config.limits.largeBodyBytes) &&
    headers.get("x-service-resume") === null;
}

function take(message: ToIsolate): void {
  switch (message.type) {
    case "result":
      return state.onResult(message);
    case "overdrawn":
      return state.onOverdrawn(message.admission);
    case "leased":
    case "lease-overdrawn":
    case "report-leases":
    case "written":
    case "unwritten":
      return meter.onMessage(message);
    case "own-address":
      return void ownAddresses.push(message.address);
    case "discovered":
      return current.parts.catalog.replaceDiscovered(message.models);
    case "config":
      changing = changing.then(() => change(message));
      return;
    case "evict":
      keys.evictAccount(message.accountId);
      meter.endAccount(message.accountId);
      return post({ type: "acknowledged", id: message.id });
    case "forget-replies":
      ownReasoning.removeAccount(message.accountId);
      ownItems.removeAccount(message.accountId);
      return post({ type: "acknowledged", id: message.id });
    case "send-records":
      sendWritten();
      return post({ type: "acknowledged", id: message.id }); // after the records that wait
    case "abort-streams":
      return openStreams.abortAll();
    case "stop":
      return void stop(message.graceMs);
  }
}

async function change({ id, config, discovered }: ToIsolate & { readonly type: "config" }): Promise<void> {
  try {
    const before = current.parts;
    current = await openGeneration({ config, discovered }, current);
    before.openedProviders.close(current.parts.openedProviders);
  } catch (error) {
    log.error("isolate_config_failed", { reason: error instanceof Error ? error.name : typeof error });
  }
  meter.endAll(); // a limit can be lower
  post({ type: "acknowledged", id });
}

async function openGeneration(
  { config, discovered }: Pick<IsolateData, "config" | "discovered">,
  before: Generation | null,
): Promise<Generation> {
  const previous = before === null ? {} : { previous: before.parts };
  const parts = await openConfiguredParts(config, { clock, ownAddresses, ...previous });
  parts.catalog.replaceDiscovered(discovered);
  state.setLimits(limitsByProvider(config.providers));
  const { limits, requestLog } = config;
  const authenticate = createAuthenticate({
    ring: keys,
    wrongKeys: state.wrongKeys,
    meter: {
      ratesLeft(caller) {
        const left = meter.ratesLeft(caller);
        return left === undefined ? state.ratesLeft(caller) : left;
      },
    },
    clock,
    captureBytes: capturedBodyBytes(requestLog),
  });
  const routes = threadRoutes({
    parts,
    state: { meter, slots: state.slots, store, log },
    breaker,
    reasoning,
    items,
    openStreams,
    authenticate,
    bodyLimits: { capBytes: limits.textBodyBytes, idleMs: limits.bodyIdleMs },
  });
  const replayed = withReplays(routes, replayOptions({ config, store, authenticate, clock, log, openStreams }));
  const router = createRouter(replayed, routerOptions(() => data.baseUrl, { hasAdmin: false }));
  return { parts, router };
}

async function stop(graceMs: number): Promise<void> {
  await drain(graceMs);
  post({ type: "stopped" });
}

/**
 * After an error that nothing has caught, this thread may be in a wrong state. It ends its streams, gives whole replies
 * some time, charges what was received, and lets the main thread replace it.
 */
async function fail(error: unknown): Promise<void> {
  if (hasFailed) return;
  hasFailed = true;
  const reason = errorLocation(error);
  log.error("isolate_failed", { reason });
  const drained = drain(FAILED_GRACE_MS).catch(() => {});
  openStreams.abortAll(new GatewayError("route_error", "The gateway failed during the reply; send the request again"));
  await drained;
  post({ type: "failed", reason });
}

async function drain(graceMs: number): Promise<void> {
  isDraining = true;
  await listening?.shutdown(graceMs);
  await openStreams.detached.drain(graceMs, clock);
  openStreams.departures.finish();
  if (openRecords > 0) await recordsEnded();
  sendWritten();
  await writtenOrLate();
  await journal.close();
}

/** What the ledger does not take now stays in the journal. */
async function writtenOrLate(): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(LAST_CHARGES_MS, resolve);
  await Promise.race([late, meter.flush()]);
  cancel();
}

async function recordsEnded(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  onNoRecords = resolve;
  const cancel = clock.after(LAST_RECORDS_MS, resolve);
  await promise;
  cancel();
}

/** The main thread writes it to the logs and counts it. */
function sendRecord(record: RequestRecord): void {
  const { status, end, capture } = record;
  const bodies = capture?.take(status >= 400 || (end !== null && end !== "completed")) ?? null;
  const wasAnnounced = openRequests.delete(record);
  if (data.writesRecords && bodies === null && recordWriter.add(record)) {
    if (wasAnnounced) announcedIds.push(record.arrival.requestId);
    sendWrittenLater();
  } else {
    outbox.postLater(recordMessageOf(record, bodies), buffersOf(bodies));
  }
  openRecords--;
  if (openRecords === 0) onNoRecords();
}

function sendWrittenLater(): void {
  stopWritten ??= clock.after(WRITTEN_MS, sendWritten);
}

/** A message by itself: its texts are copied faster than they would be written as JSON. */
function sendWritten(): void {
  const messages = takeWritten();
  if (messages.length > 0) parentPort!.postMessage(messages);
}

/** What is written of requests goes with it. */
function sendReport(report: LeaseReport): void {
  const written = takeWritten();
  parentPort!.postMessage([report, ...written]);
}

function takeWritten(): FromIsolate[] {
  stopWritten?.();
  stopWritten = null;
  const successes = breaker.takeSuccesses();
  const messages: FromIsolate[] = successes.length > 0 ? [{ type: "successes", successes }] : [];
  if (recordWriter.size === 0) return messages;
  return [...messages, { type: "records", ...recordWriter.take(), announced: announcedIds.splice(0) }];
}

function buffersOf(bodies: CapturedBodies | null): ArrayBuffer[] {
  return [bodies?.request?.buffer, bodies?.response?.buffer].filter((buffer) => buffer !== undefined);
}

/** What the main thread only counts or writes can wait for messages that a request waits for. */
function post(message: FromIsolate): void {
  const canWait = message.type === "attempt" || (message.type === "attempted" && message.failure === null);
  if (canWait) outbox.postLater(message);
  else outbox.post(message);
}
