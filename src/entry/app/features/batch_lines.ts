import type { Meter } from "../../../money/billing/meter/meter.ts";
import { CALLER_ENDPOINTS } from "../../../platform/endpoints/callers.ts";
import type { ImageServices } from "./image_routes.ts";
import type { WholeCallServices } from "./whole_call_routes.ts";
import { BATCH_LIMITS, hasTasks } from "../../../services/batches/records/batch.ts";
import {
  isRefusedForNow,
  type LineNeeds,
  type LineReply,
  type LineRequest,
  type LineRunner,
  type RoutedLine,
  type VendorReply,
} from "../../../services/batches/lines/line_runner.ts";
import type { BatchedCall } from "../../../vendors/upstreams/contract/batch_upstream.ts";
import {
  BatchChoice,
  type BatchedParts,
  batchedProviders,
  capturing,
  hasBatches,
  mayBeBatched,
  replaying,
} from "./batched_calls.ts";
import { EstimatingMeter, LineEstimate, LineMeter, VendorLineMeter } from "./line_meters.ts";
import { JSON_MEMORY_FACTOR, jsonObjectOf } from "../../../platform/http/bodies/json_body.ts";
import { spliceJson } from "../../../platform/lib/json/json.ts";
import { addressOf } from "../../../platform/endpoints/endpoint.ts";
import { MESSAGE_VERSION } from "../../../platform/http/request/credentials.ts";
import type { Inbound, Route } from "../../../platform/http/request/inbound.ts";
import type { RequestObserver, RequestRecord } from "../../../platform/http/request/request_record.ts";
import { Late } from "../../../platform/lib/process/late.ts";
import { estimateTask, type LineVideos } from "./line_tasks.ts";
import { recordOf, refusedLine, rowOf } from "./line_records.ts";
import { TextService } from "../../../services/texts/request/text_service.ts";
import type { CacheFeature } from "../opening/caches.ts";
import { createRequestFiles, createTextRoutes } from "./text_routes.ts";
import type { OwnedServices } from "../opening/own.ts";
import { toCallerError } from "../opening/storage_error.ts";

/** Most gateways have no lines of such endpoints. */
const imageRoutesModule = new Late(() => import("./image_routes.ts"));
const wholeCallRoutesModule = new Late(() => import("./whole_call_routes.ts"));

/** What lines need of a gateway. */
export interface LineRunnerOptions {
  /** The services and features of the active configuration. */
  readonly current: () => {
    readonly services: OwnedServices;
    readonly features: { readonly texts: TextService; readonly caches: Pick<CacheFeature, "caches"> };
  };
  /** Receives the record of each line, as that of a request. */
  readonly observer: RequestObserver | null;
  readonly videos: LineVideos;
}

/** Lines besides text that vendors have batches of. */
const WHOLE_LINES: ReadonlySet<string> = new Set([
  CALLER_ENDPOINTS.createEmbeddings.path,
  CALLER_ENDPOINTS.createModeration.path,
  CALLER_ENDPOINTS.embedContent.path,
]);

/** Lines that make images. */
const IMAGE_LINES: ReadonlySet<string> = new Set([
  CALLER_ENDPOINTS.createImages.path,
  CALLER_ENDPOINTS.editImages.path,
]);

/**
 * Answers lines by the handlers of the endpoints, so that a line is checked, routed, translated and priced as the same
 * request of a connection. Only the money differs: the batch has it already, and the line is charged with its reply.
 */
export function createLineRunner({ current, observer, videos }: LineRunnerOptions): LineRunner {
  return {
    async estimate(line) {
      const { services } = current();
      if (hasTasks(line)) return { part: await estimateTask(line, { services, videos }), route: null };
      const routed = await vendorNeeds(line, current());
      if (routed !== null) return routed;
      const record = recordOf(line, services, null);
      try {
        await answer(line, { ...current(), meter: new EstimatingMeter(), record, signal: null });
        return { part: 0n, route: null }; // an answer without a call costs nothing
      } catch (error) {
        if (error instanceof LineEstimate) return { part: error.amount, route: null };
        throw toCallerError(error);
      } finally {
        record.release();
      }
    },
    async run(line, part, signal) {
      const { services } = current();
      const meter = new LineMeter(services.meter, part, services.log);
      return await settled(line, { ...current(), meter, record: recordOf(line, services, observer), signal });
    },
    compose: (line) => composed(line, { ...current(), observer }),
    answer: (line, reply) => answered(line, reply, { ...current(), observer }),
    refuse: (line, error) => refusedLine(line, error, recordOf(line, current().services, observer)),
    async batchesOf(provider) {
      const { batches } = current().services.providers.get(provider)?.capabilities ?? {};
      return batches === undefined ? null : await batches.load();
    },
    isBusy: () => current().services.slots.waitingByProvider().values().some((waiting) => waiting > 0),
  };
}

/** Answers a line, and observes it as a request. */
async function settled(
  line: LineRequest,
  call: LineCall & { readonly meter: LineMeter | VendorLineMeter },
): Promise<LineReply> {
  const { services, record, meter } = call;
  const { requestId } = record.arrival;
  try {
    const { status, body } = await answer(line, call);
    record.status = status;
    return { requestId, status, body, charge: meter.charged };
  } catch (thrown) {
    record.hold();
    return { ...await refusedLine(line, toCallerError(thrown), record), charge: meter.charged };
  } finally {
    record.respondedAt = services.clock.now();
    record.release();
  }
}

/** What a line needs in a batch of its vendor; null if no vendor of it has batches, or it is invalid. */
async function vendorNeeds(line: LineRequest, current: LineGateway): Promise<LineNeeds | null> {
  const { services, features } = current;
  const { providers, breaker, catalog } = features.texts.parts;
  if (!isBatchedLine(line) || !hasBatches(providers)) return null;
  // A check of the whole line takes as long as that for a request by itself, which follows.
  const named = line.model === undefined ? null : catalog.at(services.clock.now()).named(line.model);
  if (named !== null && !mayBeBatched(named.model, providers)) return null;
  const batch = new BatchChoice(providers);
  const record = recordOf(line, services, null);
  try {
    await answer(line, {
      ...current,
      meter: new EstimatingMeter(),
      record,
      signal: null,
      callParts: { batch, breaker, providers: isTextLine(line) ? providers : batchedProviders(providers) },
    });
    return null;
  } catch (error) {
    const { route } = batch;
    // What is wrong with the line is found when it is checked for a request by itself.
    return error instanceof LineEstimate && route !== null ? { part: error.amount, route } : null;
  } finally {
    record.release();
  }
}

async function composed(
  { request, route }: RoutedLine,
  current: LineGateway & Pick<LineRunnerOptions, "observer">,
): Promise<{ readonly call: BatchedCall } | { readonly reply: LineReply }> {
  const { services, features } = current;
  const record = recordOf(request, services, null);
  const { callParts, sent } = capturing(route, features.texts.parts);
  try {
    await answer(request, { ...current, meter: new VendorLineMeter(services.log), record, signal: null, callParts });
    throw new Error("The line was answered without its vendor");
  } catch (thrown) {
    const call = sent();
    if (call !== null) return { call };
    const error = toCallerError(thrown);
    // One that can be written later gets another record then.
    const observer = isRefusedForNow({ status: error.status, charge: null }) ? null : current.observer;
    return { reply: await refusedLine(request, error, recordOf(request, services, observer)) };
  } finally {
    record.release();
  }
}

async function answered(
  { request, route }: RoutedLine,
  reply: VendorReply,
  current: LineGateway & Pick<LineRunnerOptions, "observer">,
): Promise<LineReply> {
  const { services, features, observer } = current;
  const meter = new VendorLineMeter(services.log);
  const callParts = replaying(route, reply, features.texts.parts);
  return await settled(request, {
    ...current,
    meter,
    record: recordOf(request, services, observer),
    signal: null,
    callParts,
  });
}

/** The gateway that a line meets. */
type LineGateway = ReturnType<LineRunnerOptions["current"]>;

interface LineCall extends LineGateway {
  readonly meter: Meter;
  readonly record: RequestRecord;
  /** Ends the call; null for a line that is not sent. */
  readonly signal: AbortSignal | null;
  /** What differs for a line of a vendor's batch. */
  readonly callParts?: BatchedParts;
}

async function answer(line: LineRequest, call: LineCall): Promise<Pick<LineReply, "status" | "body">> {
  const { services, record, signal } = call;
  const { credential: { accountId } } = line;
  const { path, params, body } = addressed(line);
  const route = await routeOf(line, call);
  const { requestId, receivedAt } = record.arrival;
  const headers = {
    "content-type": "application/json",
    ...rowOf(line.endpoint).errors === "message" && { "msg-version": MESSAGE_VERSION },
    ...line.betas !== undefined && { "anthropic-beta": line.betas },
  };
  const ending = followed(signal);
  const request = new Request(`http://localhost${path}`, { method: "POST", headers, signal: ending?.signal ?? null });
  const memory = services.memory.lease(accountId);
  const facts = { request, method: "POST", path, endpoint: route, query: "", params, remote: "", memory };
  // A copy, which the handler may give away. As the body of the request it would become a stream, and be copied twice.
  const received = { bytes: body.slice() };
  const inbound: Inbound = { ...facts, received, requestId, receivedAt, record };
  try {
    memory.reserve(body.length * JSON_MEMORY_FACTOR);
    const response = await route.handler(inbound);
    // The last byte comes when the charge was made.
    return { status: response.status, body: new Uint8Array(await response.arrayBuffer()) };
  } finally {
    ending?.leave();
    memory.end();
  }
}

/**
 * A signal that ends with another one until it is left. The platform keeps a reference for each request that follows a
 * signal until that signal is gone, so requests do not follow one that outlives them.
 */
function followed(signal: AbortSignal | null): { readonly signal: AbortSignal; readonly leave: () => void } | null {
  if (signal === null) return null;
  const own = new AbortController();
  const end = () => own.abort(signal.reason);
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  return { signal: own.signal, leave: () => signal.removeEventListener("abort", end) };
}

function isTextLine({ endpoint }: Pick<LineRequest, "endpoint">): boolean {
  return rowOf(endpoint).format !== undefined;
}

/** Whether vendors have batches of such lines. */
function isBatchedLine(line: Pick<LineRequest, "endpoint">): boolean {
  return isTextLine(line) || WHOLE_LINES.has(line.endpoint);
}

async function routeOf(
  { endpoint: path, credential, onFiles }: LineRequest,
  { services, features, meter, callParts }: LineCall,
): Promise<Route> {
  const { textBodyBytes, bodyIdleMs: idleMs } = services.config.limits;
  const authenticate = () => credential;
  const routes = !isTextLine({ endpoint: path })
    ? await mediaRoutes(path, { ...services, authenticate, meter, ...callParts })
    : createTextRoutes({
      turns: new TextService({ ...features.texts.parts, meter, ...callParts }),
      caches: features.caches.caches,
      authenticate,
      bodyLimits: { capBytes: textBodyBytes, idleMs },
      files: createRequestFiles(services, { maxBytes: BATCH_LIMITS.lineBytes, ...onFiles && { onFiles } }),
    });
  const route = routes.find((each) => each.method === "POST" && each.path === path);
  if (route === undefined) throw new Error(`No route answers the lines of ${path}`);
  return route;
}

async function mediaRoutes(path: string, services: WholeCallServices & ImageServices): Promise<Route[]> {
  return IMAGE_LINES.has(path)
    ? (await imageRoutesModule.load()).buildImageRoutes(services)
    : (await wholeCallRoutesModule.load()).buildWholeCallRoutes(services);
}

/** The path of a line. Where a path names the model, it is moved there from the body. */
function addressed(
  { endpoint, body }: LineRequest,
): { readonly path: string; readonly params: Inbound["params"]; readonly body: Uint8Array<ArrayBuffer> } {
  const row = rowOf(endpoint);
  if (!endpoint.includes(":model")) return { path: endpoint, params: {}, body };
  const { outline, bytes, scan } = jsonObjectOf(body);
  const params = { model: String(outline.model) };
  return { path: addressOf(row, params), params, body: spliceJson(bytes, scan, { remove: ["model"] }).joined() };
}
