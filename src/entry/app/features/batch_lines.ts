import type { Meter } from "../../../money/billing/meter/meter.ts";
import { CALLER_ENDPOINTS } from "../../../platform/endpoints/callers.ts";
import type { ImageServices } from "./image_routes.ts";
import type { WholeCallServices } from "./whole_call_routes.ts";
import { ALL_LINE_ENDPOINTS, BATCH_LIMITS } from "../../../services/batches/records/batch.ts";
import type {
  LineNeeds,
  LineReply,
  LineRequest,
  LineRunner,
  RoutedLine,
  VendorReply,
} from "../../../services/batches/lines/line_runner.ts";
import type { TextParts } from "../../../services/texts/plan/attempt.ts";
import type { BatchedCall } from "../../../vendors/upstreams/contract/batch_upstream.ts";
import type { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { BatchChoice, capturing, hasBatches, mayBeBatched, replaying } from "./batched_calls.ts";
import { EstimatingMeter, LineEstimate, LineMeter, VendorLineMeter } from "./line_meters.ts";
import { jsonObjectOf } from "../../../platform/http/bodies/json_body.ts";
import { spliceJson } from "../../../platform/lib/json/json.ts";
import { addressOf, type Endpoint } from "../../../platform/endpoints/endpoint.ts";
import { MESSAGE_VERSION } from "../../../platform/http/request/credentials.ts";
import type { Inbound, Route } from "../../../platform/http/request/inbound.ts";
import { type RequestObserver, RequestRecord } from "../../../platform/http/request/request_record.ts";
import { newRequestId } from "../../../platform/lib/basics/ids.ts";
import { Late } from "../../../platform/lib/process/late.ts";
import { errorRendererOf } from "../../../protocols/route_at.ts";
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
}

/**
 * Answers lines by the handlers of the endpoints, so that a line is checked, routed, translated and priced as the same
 * request of a connection. Only the money differs: the batch has it already, and the line is charged with its reply.
 */
export function createLineRunner({ current, observer }: LineRunnerOptions): LineRunner {
  return {
    async estimate(line) {
      const { services } = current();
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
    compose: (line) => composed(line, current()),
    answer: (line, reply) => answered(line, reply, { ...current(), observer }),
    refuse: (endpoint, error) => refusal(endpoint, error, newRequestId(current().services.clock.now())),
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
    const error = toCallerError(thrown);
    record.status = error.status;
    record.code = error.code;
    record.message = error.details.loggedMessage ?? error.message;
    record.provider ??= error.details.provider ?? null;
    return { ...await refusal(line.endpoint, error, requestId), charge: meter.charged };
  } finally {
    record.respondedAt = services.clock.now();
    record.release();
  }
}

/** The reply to a line that fails. It costs nothing. */
async function refusal(endpoint: string, error: GatewayError, requestId: string): Promise<LineReply> {
  const render = errorRendererOf(rowOf(endpoint));
  const body = new Uint8Array(await render(error, requestId).arrayBuffer());
  return { requestId, status: error.status, body, charge: null };
}

/** What a line needs in a batch of its vendor; null if no vendor of it has batches, or it is invalid. */
async function vendorNeeds(line: LineRequest, current: LineGateway): Promise<LineNeeds | null> {
  const { services, features } = current;
  const { providers, catalog } = features.texts.parts;
  if (!isTextLine(line) || !hasBatches(providers)) return null;
  // A check of the whole line takes as long as that for a request by itself, which follows.
  const named = line.model === undefined ? null : catalog.at(services.clock.now()).named(line.model);
  if (named !== null && !mayBeBatched(named.model, providers)) return null;
  const batch = new BatchChoice(providers);
  const record = recordOf(line, services, null);
  try {
    await answer(line, { ...current, meter: new EstimatingMeter(), record, signal: null, textParts: { batch } });
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
  current: LineGateway,
): Promise<{ readonly call: BatchedCall } | { readonly reply: LineReply }> {
  const { services, features } = current;
  const record = recordOf(request, services, null);
  const { textParts, sent } = capturing(route, features.texts.parts);
  try {
    await answer(request, { ...current, meter: new VendorLineMeter(services.log), record, signal: null, textParts });
    throw new Error("The line was answered without its vendor");
  } catch (thrown) {
    const call = sent();
    if (call !== null) return { call };
    return { reply: await refusal(request.endpoint, toCallerError(thrown), record.arrival.requestId) };
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
  const textParts = replaying(route, reply, features.texts.parts);
  return await settled(request, {
    ...current,
    meter,
    record: recordOf(request, services, observer),
    signal: null,
    textParts,
  });
}

function recordOf(
  { endpoint, credential: { accountId, keyId } }: LineRequest,
  { clock }: OwnedServices,
  observer: RequestObserver | null,
): RequestRecord {
  const receivedAt = clock.now();
  const requestId = newRequestId(receivedAt);
  const arrival = { requestId, receivedAt, method: "POST", sentPath: endpoint, path: endpoint, remote: "" };
  const record = new RequestRecord(arrival, observer);
  record.endpoint = endpoint;
  record.accountId = accountId;
  record.keyId = keyId;
  return record;
}

/** The gateway that a line meets. */
type LineGateway = ReturnType<LineRunnerOptions["current"]>;

interface LineCall extends LineGateway {
  readonly meter: Meter;
  readonly record: RequestRecord;
  /** Ends the call; null for a line that is not sent. */
  readonly signal: AbortSignal | null;
  /** What differs for a line of a vendor's batch. */
  readonly textParts?: Partial<TextParts>;
}

async function answer(line: LineRequest, call: LineCall): Promise<Pick<LineReply, "status" | "body">> {
  const { services, record, signal } = call;
  const { credential: { accountId } } = line;
  const { path, params, body } = addressed(line);
  const route = await routeOf(line, call);
  const { requestId, receivedAt } = record.arrival;
  const headers = {
    "content-type": "application/json",
    "content-length": String(body.length),
    ...rowOf(line.endpoint).errors === "message" && { "msg-version": MESSAGE_VERSION },
    ...line.betas !== undefined && { "anthropic-beta": line.betas },
  };
  const ending = followed(signal);
  const init = { method: "POST", headers, body, signal: ending?.signal ?? null };
  const request = new Request(`http://localhost${path}`, init);
  const memory = services.memory.lease(accountId);
  const facts = { request, method: "POST", path, endpoint: route, query: "", params, remote: "", memory };
  const inbound: Inbound = { ...facts, requestId, receivedAt, record };
  try {
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

async function routeOf(
  { endpoint: path, credential, onFiles }: LineRequest,
  { services, features, meter, textParts }: LineCall,
): Promise<Route> {
  const { textBodyBytes, bodyIdleMs: idleMs } = services.config.limits;
  const authenticate = () => credential;
  const routes = !isTextLine({ endpoint: path })
    ? await mediaRoutes(path, { ...services, authenticate, meter })
    : createTextRoutes({
      turns: new TextService({ ...features.texts.parts, meter, ...textParts }),
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
  return path === CALLER_ENDPOINTS.createImages.path
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

/** @throws {Error} If no batch has lines of the endpoint. */
function rowOf(path: string): Endpoint {
  const row = ALL_LINE_ENDPOINTS.get(path);
  if (row === undefined) throw new Error(`No route answers the lines of ${path}`);
  return row;
}
