import { createHash } from "node:crypto";
import type { Authenticate } from "../../../money/billing/authenticate.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../../platform/endpoints/callers.ts";
import type { BodyLimits } from "../../../platform/http/bodies/body.ts";
import { isDryRun } from "../../../platform/http/request/dry_run.ts";
import { readIdempotencyKey } from "../../../platform/http/request/idempotency_key.ts";
import { type Inbound, pathParam, type Route } from "../../../platform/http/request/inbound.ts";
import { type MediaBodyThread, readMediaBody } from "../../../platform/http/bodies/media_body.ts";
import { GatewayError, invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { type CountedRequest, rateExceeded } from "../../../money/limits/request_rate.ts";
import type { DryRunResult } from "../../../services/videos/create/dry_run.ts";
import { estimateOf } from "../../../services/videos/tasks/task_object.ts";
import type { Videos } from "../../../services/videos/videos.ts";
import { droppedHeader, dryRunResponse } from "../../dry_run_response.ts";
import { routesAt } from "../../route_at.ts";
import { EVENT_HEADERS, EVENT_WRITER, lastEventIdIn } from "./video_events.ts";
import { withOpenaiFields } from "./openai_video_fields.ts";
import { dialectOf } from "./video_dialects.ts";
import type { VideoChange } from "./video_remix.ts";
import { readContentQuery } from "./video_content_query.ts";
import { readVideoListQuery } from "./video_list_query.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const videoFormModule = new Late(() => import("./video_form.ts"));
const videoRemixModule = new Late(() => import("./video_remix.ts"));

/** The dependencies of the video endpoints. */
export interface VideoRouteParts {
  readonly videos: Videos;
  readonly authenticate: Authenticate;
  readonly bodyLimits: BodyLimits;
  /** Reads large bodies. */
  readonly bodyThread: MediaBodyThread;
}

/** The members of a create request that have media. */
const MEDIA_PLACES = { members: ["frame_images", "input_references", "input_reference"], isBase64: false };

/**
 * `POST /v1/videos`, `GET /v1/videos`, and `GET`, `DELETE`, `/events` and `/content` of one task. Changes of finished
 * videos are refused.
 */
export function defaultVideoRoutes(parts: VideoRouteParts): Route[] {
  return [
    ...routesAt(ENDPOINTS.createVideo, (inbound) => create(inbound, parts)),
    ...routesAt(ENDPOINTS.listVideos, (inbound) => list(inbound, parts)),
    ...routesAt(ENDPOINTS.readVideo, (inbound) => read(inbound, parts)),
    ...routesAt(ENDPOINTS.cancelVideo, (inbound) => cancel(inbound, parts)),
    ...routesAt(ENDPOINTS.streamVideoEvents, (inbound) => events(inbound, parts)),
    ...routesAt(ENDPOINTS.readVideoContent, (inbound) => content(inbound, parts)),
    ...routesAt(ENDPOINTS.remixVideo, (inbound) => refused("remix", inbound, parts)),
    ...routesAt(ENDPOINTS.editVideo, (inbound) => refused("edit", inbound, parts)),
    ...routesAt(ENDPOINTS.extendVideo, (inbound) => refused("extend", inbound, parts)),
    ...routesAt(ENDPOINTS.createVideoCharacter, (inbound) => refused("make a character of", inbound, parts)),
  ];
}

async function create(inbound: Inbound, parts: VideoRouteParts): Promise<Response> {
  const { videos, authenticate, bodyLimits: limits, bodyThread: thread } = parts;
  const { keyId, accountId, limits: callerLimits } = await authenticate(inbound);
  const { receivedAt, memory, request: { headers } } = inbound;
  const idempotencyKey = readIdempotencyKey(headers);
  const isTrial = isDryRun(headers);
  const isHashed = idempotencyKey !== null;
  const { body, bytes, hash } = isForm(headers)
    ? await (await videoFormModule.load()).readVideoForm(inbound, limits)
    : await readMediaBody(inbound, { limits, places: MEDIA_PLACES, thread, accountId, isHashed });
  const call = { keyId, accountId, limits: callerLimits, receivedAt, body: withOpenaiFields(body), memory };
  inbound.record.capture?.takeRequest(bytes);
  inbound.record.model = typeof body.model === "string" ? body.model : null;
  if (isTrial) return trialAnswer(await videos.dryRun(call));
  const key = isHashed
    ? { key: idempotencyKey, bodyHash: hash ?? createHash("sha256").update(bytes).digest("hex") }
    : null;
  const { taskId, replayed, estimate, dropped } = await videos.create({ ...call, key });
  inbound.record.kind = "video";
  inbound.record.dropped = dropped;
  const dialect = dialectOf(headers);
  const answer = dialect.createsTasks
    ? dialect.writeTask(await videos.read(keyId, taskId))
    : { id: taskId, status: "pending", polling_url: videos.pollingUrl(taskId) };
  return Response.json({ ...answer, ...(estimate ? { estimate } : {}) }, {
    status: 202,
    headers: { ...droppedHeader(dropped), ...(replayed ? { "idempotent-replayed": "true" } : {}) },
  });
}

/** Whether the body of a request is a form. */
function isForm(headers: Headers): boolean {
  return /^\s*multipart\/form-data\s*(;|$)/i.test(headers.get("content-type") ?? "");
}

function trialAnswer({ price, ...found }: DryRunResult): Response {
  return dryRunResponse({ ...found, estimate: estimateOf(price) });
}

async function read(inbound: Inbound, { videos, authenticate }: VideoRouteParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  return await underPollingLimit(videos, keyId, async (headers) => {
    const task = await videos.read(keyId, pathParam(inbound.params, "id"));
    return Response.json(dialectOf(inbound.request.headers).writeTask(task), { headers });
  });
}

/** Only opening the stream counts towards the polling limit. */
async function events(inbound: Inbound, { videos, authenticate }: VideoRouteParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  return await underPollingLimit(videos, keyId, async (headers) => {
    const { request, params, method } = inbound;
    const reader = { ...EVENT_WRITER, isAuthorized: () => isGood(inbound, authenticate) };
    const stream = await videos.events(keyId, pathParam(params, "id"), lastEventIdIn(request.headers), reader);
    if (stream === null) return new Response(null, { status: 204, headers });
    if (method === "HEAD") await stream.cancel();
    return new Response(method === "HEAD" ? null : stream, { headers: { ...headers, ...EVENT_HEADERS } });
  });
}

/** Whether the request's credential is still valid. Any other failure of the lookup does not end the stream. */
async function isGood(inbound: Inbound, authenticate: Authenticate): Promise<boolean> {
  try {
    await authenticate(inbound);
    return true;
  } catch (error) {
    return !(error instanceof GatewayError) || (error.status !== 401 && error.status !== 403);
  }
}

async function underPollingLimit(
  videos: Videos,
  keyId: string,
  answer: (headers: CountedRequest["headers"]) => Promise<Response>,
): Promise<Response> {
  const look = await videos.countPoll(keyId);
  try {
    if (!look.ok) throw rateExceeded("video task requests", look);
    return await answer(look.headers);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError(error.code, error.message, { ...error.details, headers: look.headers });
  }
}

async function list(inbound: Inbound, { videos, authenticate }: VideoRouteParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const { filter, page } = readVideoListQuery(inbound.query);
  const { tasks, next } = await videos.list(keyId, filter, page);
  const ids = { first_id: tasks[0]?.id ?? null, last_id: next ?? tasks[tasks.length - 1]?.id ?? null };
  const data = tasks.map(dialectOf(inbound.request.headers).writeTask);
  return Response.json({ object: "list", data, has_more: next !== null, next, ...ids });
}

/** Cancels a pending task. With `purge=true`, or for clients with that meaning, it removes a finished one. */
async function cancel(inbound: Inbound, { videos, authenticate }: VideoRouteParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const id = pathParam(inbound.params, "id");
  if (isDryRun(inbound.request.headers)) {
    throw invalidField("X-Service-Dry-Run", "expected it only for creates: a cancel has no dry run");
  }
  const dialect = dialectOf(inbound.request.headers);
  const removes = readPurge(inbound.query) ||
    (dialect.deletesEnded && (await videos.read(keyId, id)).status !== "pending");
  if (!removes) return Response.json(dialect.writeTask(await videos.cancel(keyId, id)));
  await videos.purge(keyId, id);
  return Response.json({ id, object: "video.deleted", deleted: true });
}

/** A misspelt name would cancel a task that should have been kept. */
function readPurge(query: string): boolean {
  const parameters = new URLSearchParams(query);
  const unknown = [...parameters.keys()].find((name) => name !== "purge");
  if (unknown !== undefined) throw invalidField(unknown, "expected purge or nothing");
  const values = parameters.getAll("purge");
  if (values.length === 0) return false;
  if (values.length === 1 && values[0] === "true") return true;
  throw invalidField("purge", 'expected "true", once');
}

async function content(inbound: Inbound, { videos, authenticate }: VideoRouteParts): Promise<Response> {
  const { keyId } = await authenticate(inbound);
  const location = await videos.contentOf(keyId, pathParam(inbound.params, "id"), readContentQuery(inbound.query));
  return new Response(null, { status: 302, headers: { location, "cache-control": "private, no-store" } });
}

async function refused(change: VideoChange, inbound: Inbound, parts: VideoRouteParts): Promise<never> {
  const { refuseChange } = await videoRemixModule.load();
  return await refuseChange(inbound, change, inbound.params.id ?? null, parts);
}
