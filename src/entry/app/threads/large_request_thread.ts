/**
 * The entry module of a thread for large requests. It answers whole requests; the state of the main thread is reached
 * by messages.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { OtherAnswer } from "../../../conversation/models/answering_models.ts";
import type { Inbound, Route } from "../../../platform/http/request/inbound.ts";
import { RequestRecord } from "../../../platform/http/request/request_record.ts";
import { JSON_MEMORY_FACTOR } from "../../../platform/http/bodies/json_body.ts";
import { systemClock } from "../../../platform/lib/basics/clock.ts";
import { OpenStreams } from "../../../services/calls/stream_relay.ts";
import { holdWork } from "../../../platform/lib/basics/held.ts";
import { markWork, startThreadHeartbeat } from "../../../platform/lib/process/own_heartbeat.ts";
import type { OwnAddress } from "../../../platform/net/target.ts";
import { renderDefaultError } from "../../../protocols/default/error.ts";
import type { KeptReasoning } from "../../../services/texts/memory/reasoning_memory.ts";
import { BoundedMemory, type KeptValues } from "../../../services/texts/memory/bounded_memory.ts";
import { limitsByProvider } from "../../../vendors/upstreams/settings/provider_limits.ts";
import type { FromThread, RequestMessage, ThreadData, ToThread } from "../../../threads/large_requests/messages.ts";
import { plainErrorOf } from "../../../threads/state/plain_error.ts";
import { RemoteState } from "../../../threads/state/remote_state.ts";
import { isStateError } from "../../../platform/store/store_errors.ts";
import { guardThread } from "../../../platform/workers/thread_guard.ts";
import { type ConfiguredParts, openConfiguredParts } from "../opening/configured_parts.ts";
import { logStreamFailures } from "../opening/log_stream_failures.ts";
import { createRouter, type Router } from "../routing/router.ts";
import { withStoredReplies } from "./thread_replies.ts";
import { threadTexts } from "./thread_routes.ts";

/** A request under way. */
interface OpenRequest {
  readonly left: AbortController;
  readonly message: RequestMessage;
  reader: ReadableStreamDefaultReader<Uint8Array> | null;
}

guardThread({ isFatal: isStateError });
startThreadHeartbeat();
const data = workerData as ThreadData;
const state = new RemoteState({
  post,
  flush() {},
  // The remaining work on the request's values is done before the next iteration of the event loop.
  onWaiting: (id) => void setTimeout(() => post({ type: "digested", id }), 0),
}, data);
const ownAddresses: OwnAddress[] = [...data.own];
// The main thread reads each chunk by itself, so that none is taken at once.
const openStreams = new OpenStreams(null, false);
const open = new Map<number, OpenRequest>();
/** What was read of the replies of other gateways. */
const readReasoning = new BoundedMemory<KeptReasoning>(systemClock);
const readItems = new BoundedMemory<string>(systemClock);
/** The endpoints of the configuration in force. Messages can arrive before they are there. */
let endpoints = openEndpoints(data, null);
logStreamFailures(state.log);

parentPort!.on("message", (message: ToThread) => {
  switch (message.type) {
    case "request":
      return void state.scope.run({ id: message.id, lookups: 0 }, () => answer(message));
    case "pull":
      return holdWork(pull(message.id));
    case "left":
      return leave(message.id);
    case "abort-for-stop":
      return openStreams.abortForStop();
    case "own-address":
      return void ownAddresses.push(message.address);
    case "listed":
      return holdWork(endpoints.then(({ parts }) => parts.catalog.replaceListed(message.listed)));
    case "config":
      endpoints = openEndpoints(message, endpoints);
      return;
    case "overdrawn":
      return state.onOverdrawn(message.admission);
    case "result":
      return state.onResult(message);
  }
});

/** The parts of one configuration and its endpoints. A request uses those in force when it arrived. */
interface Endpoints {
  readonly parts: ConfiguredParts;
  readonly router: Router;
}

async function openEndpoints(
  { config, listed }: Pick<ThreadData, "config" | "listed">,
  before: Promise<Endpoints> | null,
): Promise<Endpoints> {
  const previous = (await before)?.parts;
  const shared = {
    clock: systemClock,
    ownAddresses,
    onOtherAnswer: (answer: OtherAnswer) => post({ type: "other-answer", answer }),
    ...previous === undefined ? {} : { previous },
  };
  const parts = await openConfiguredParts(config, shared);
  parts.catalog.replaceListed(listed);
  state.setLimits(limitsByProvider(config.providers));
  const router = await createThreadRouter(parts);
  previous?.openedProviders.close(parts.openedProviders);
  return { parts, router };
}

async function createThreadRouter(parts: ConfiguredParts): Promise<Router> {
  const { store } = state;
  const shared = { config: parts.config, store, clock: systemClock };
  const { routes } = threadTexts({
    parts,
    state,
    breaker: state.breaker,
    reasoning: await withStoredReplies(
      state.reasoning as KeptValues<KeptReasoning>,
      { kind: "reasoning", ...shared, near: readReasoning },
    ),
    items: await withStoredReplies(state.items, { kind: "item", ...shared, near: readItems }),
    openStreams,
    authenticate: () => Promise.resolve(currentRequest().message.credential),
    bodyLimits: { capBytes: Infinity },
  });
  return createRouter(routes, { sections: [], renderError: renderDefaultError });
}

function post(message: FromThread, transfer: readonly ArrayBuffer[] = []): void {
  parentPort!.postMessage(message, [...transfer]);
}

function currentRequest(): OpenRequest {
  return open.get(state.scope.getStore()!.id)!;
}

async function answer(message: RequestMessage): Promise<void> {
  const { id } = message;
  markWork("request", message.requestId);
  const at = endpoints.then(({ router }) => router);
  const left = new AbortController();
  const entry: OpenRequest = { left, message, reader: null };
  open.set(id, entry);
  const record = recordOf(message);
  try {
    const match = (await at).match(message.method, message.path);
    if (match.route === null) throw match.error;
    const response = await match.route.handler(inboundOf(message, match, record, left.signal));
    const { status } = response;
    const headers = [...response.headers];
    const isStream = response.headers.get("content-type") === "text/event-stream" ||
      match.route.streamsJsonList === true;
    if (!isStream || response.body === null) {
      const body = await response.arrayBuffer();
      open.delete(id);
      return post({ type: "head", id, status, headers, body }, [body]);
    }
    entry.reader = response.body.getReader();
    post({ type: "head", id, status, headers, body: null });
    if (left.signal.aborted) leave(id);
  } catch (error) {
    open.delete(id);
    post({ type: "failed", id, error: plainErrorOf(error) });
  } finally {
    record.release();
  }
}

/** The record of the thread's part of a request. Its facts are sent to the main thread at the end. */
function recordOf(
  { id, requestId, receivedAt, method, path, remote, trace, credential }: RequestMessage,
): RequestRecord {
  const arrival = { requestId, receivedAt, method, sentPath: path, path, remote };
  const record = new RequestRecord(arrival, () => post({ type: "record", id, facts: record.facts() }));
  record.trace = trace;
  record.accountId = credential.accountId;
  record.keyId = credential.keyId;
  return record;
}

function inboundOf(
  message: RequestMessage,
  { params, route: endpoint }: Pick<Inbound, "params"> & { readonly route: Route },
  record: RequestRecord,
  signal: AbortSignal,
): Inbound {
  const { url, method, path, query, headers, requestId, receivedAt, remote, body } = message;
  // A client may have sent an address that a parser does not take. Endpoints read the path.
  const request = new Request(URL.canParse(url) ? url : "http://localhost/", {
    method,
    headers: headers as [string, string][],
    body,
    signal,
  });
  const memory = state.lease(message.credential.accountId, body.byteLength * JSON_MEMORY_FACTOR);
  return { request, method, path, endpoint, query, params, requestId, receivedAt, remote, record, memory };
}

async function pull(id: number): Promise<void> {
  const entry = open.get(id);
  if (!entry?.reader) return;
  const { reader } = entry;
  await state.scope.run({ id, lookups: 0 }, async () => {
    try {
      const { done, value } = await reader.read();
      if (!open.has(id)) return;
      if (done) {
        open.delete(id);
        return post({ type: "piece", id, piece: null });
      }
      const piece = new Uint8Array(value).buffer;
      post({ type: "piece", id, piece }, [piece]);
    } catch {
      open.delete(id);
      post({ type: "broke", id });
    }
  });
}

function leave(id: number): void {
  const entry = open.get(id);
  if (!entry) return;
  entry.left.abort();
  if (entry.reader === null) return;
  open.delete(id);
  const { reader } = entry;
  state.scope.run({ id, lookups: 0 }, () => void reader.cancel().catch(() => {})); // The caller has left, so the failure is not reported.
}
