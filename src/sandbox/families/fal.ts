import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { listOf } from "../../conversation/neutral/wire_value.ts";
import type { MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import {
  bodyOf,
  type Call,
  isMissingModel,
  isRejectedKey,
  jsonResponse,
  retryAfterHeader,
  type VendorApi,
} from "../call.ts";
import { readInlineImage } from "../pictures/data_uri.ts";
import type { DecodedImage } from "../pictures/file.ts";
import { SimulatedError } from "../simulated_error.ts";
import { type ImageJobShape, simulatedImageOf } from "./picture_jobs.ts";
import { creationResponse, stateOf, type VideoJob, videoJobsByVendors, videoOf } from "./video_jobs.ts";

const jobsOf = videoJobsByVendors("fal");

const DEFAULT_SHAPE = { width: 1_024, height: 768 };
const MAX_SIDE = 4_096;

/** fal's queue: pictures, and videos at addresses with `video`. Source: fal documentation, "Queue API", "Errors". */
export const fal: VendorApi = {
  prefix: "/fal",
  async handle(call) {
    const [, fileId, what] = /^\/files\/([\w-]+)\/(picture|video)/.exec(call.path) ?? [];
    // A file needs no key.
    if (fileId !== undefined && what !== undefined) return await fileOf(call, jobsOf(call.vendors).get(fileId), what);
    const key = /^Key +(\S+)$/.exec(call.headers.get("authorization") ?? "")?.[1];
    if (key === undefined || isRejectedKey(key)) {
      throw new SimulatedError(401, "Cannot access application. Authentication is required.");
    }
    const [, app, id, rest] = /^\/([\w.-]+\/[\w.-]+)\/requests\/([\w-]+)(\/status|\/cancel)?$/.exec(call.path) ?? [];
    if (app === undefined || id === undefined) return await create(call);
    const job = jobsOf(call.vendors).get(id);
    if (job === undefined) throw new SimulatedError(404, "Request not found");
    if (rest === "/status" && call.method === "GET") return statusOf(call, app, job);
    if (rest === "/cancel" && call.method === "PUT") return cancel(call, job);
    return resultOf(call, job);
  },
  writeError(error) {
    const { status, message, details: { code } } = error;
    const detail = code === undefined ? message : [{ loc: ["body", "prompt"], msg: message, type: code }];
    return jsonResponse({ detail }, retryAfterHeader(error), status);
  },
};

const FORBIDDEN = "content_policy_violation";

function forbidden(): SimulatedError {
  return new SimulatedError(422, "The content was flagged by a content checker.", { code: FORBIDDEN });
}

async function create(call: Call): Promise<Response> {
  const segments = call.path.slice(1).split("/");
  if (call.method !== "POST" || segments.length < 2 || isMissingModel(call.path)) {
    throw new SimulatedError(404, "Application not found");
  }
  const body = bodyOf(call, "Invalid JSON");
  if (typeof body.prompt !== "string" || body.prompt === "") {
    throw new SimulatedError(422, "Field required", { code: "missing" });
  }
  if (!isVideo(call.path)) await shapeOf(body);
  const job = await jobsOf(call.vendors).create(
    call,
    { prompt: body.prompt, body: { ...body, address: call.path }, newId: () => call.vendors.nextId() },
    { forbidden, failing: (status) => new SimulatedError(status, "The service is not able to take the request.") },
  );
  const place = `http://${call.headers.get("host")}/fal/${segments.slice(0, 2).join("/")}/requests/${job.id}`;
  return creationResponse(
    job,
    jsonResponse({
      request_id: job.id,
      response_url: place,
      status_url: `${place}/status`,
      cancel_url: `${place}/cancel`,
      queue_position: 0,
    }),
  );
}

function statusOf(call: Call, app: string, job: VideoJob): Response {
  const state = stateOf(call.vendors, job);
  const place = `http://${call.headers.get("host")}/fal/${app}/requests/${job.id}`;
  const shared = { request_id: job.id, response_url: place, logs: null };
  if (state === "queued") return jsonResponse({ status: "IN_QUEUE", queue_position: 0, ...shared }, {}, 202);
  if (state === "running") {
    return jsonResponse({ status: job.directives.unknownStatus ?? "IN_PROGRESS", ...shared }, {}, 202);
  }
  return jsonResponse({ status: "COMPLETED", metrics: { inference_time: 0.7 }, ...shared });
}

function cancel(call: Call, job: VideoJob): Response {
  const state = stateOf(call.vendors, job);
  if (state !== "queued" && state !== "running") return jsonResponse({ status: "ALREADY_COMPLETED" }, {}, 400);
  job.cancelledAt = call.vendors.clock.now();
  return jsonResponse({ status: "CANCELLATION_REQUESTED" }, {}, 202);
}

async function resultOf(call: Call, job: VideoJob): Promise<Response> {
  const { directives, body } = job;
  switch (stateOf(call.vendors, job)) {
    case "queued":
    case "running":
      throw new SimulatedError(400, "Request is still in progress");
    case "succeeded":
      break;
    case "cancelled":
      throw new SimulatedError(422, "The request was cancelled");
    default:
      throw directives.end === "refusal" ? forbidden() : new SimulatedError(500, "Internal server error");
  }
  if (directives.end === "no_result") return jsonResponse({});
  const address = `http://${call.headers.get("host")}/fal/files/${job.id}`;
  if (isVideo(String(body.address))) {
    const duration = directives.seconds ?? (parseInt(String(body.duration)) || 5);
    const video = { url: `${address}/video.mp4`, content_type: "video/mp4", duration };
    return jsonResponse({ video, thumbnail: { url: `${address}/picture` }, seed: 1 });
  }
  const { width, height, format } = await shapeOf(body);
  const image = { url: `${address}/picture`, width, height, content_type: `image/${format}` };
  return jsonResponse({ images: [image], seed: 1, has_nsfw_concepts: [false], prompt: body.prompt });
}

function fileOf(call: Call, job: VideoJob | undefined, what: string): MaybePromise<Response> {
  return what === "video" ? videoOf(call.vendors, job) : simulatedImageOf(call, job, 0, shapeOf);
}

function isVideo(address: string): boolean {
  return /video|veo|seedance|hailuo|pixverse|vidu/.test(address);
}

/** Throws {@linkcode SimulatedError} for what the vendor rejects. */
async function shapeOf(body: JsonObject): Promise<ImageJobShape> {
  const values = body.image_url === undefined ? listOf(body.image_urls ?? []) : [body.image_url];
  const references = await Promise.all(values.map(referenceIn));
  const { width, height } = Object.assign({}, DEFAULT_SHAPE, body.image_size) as Record<string, unknown>;
  const isSide = (side: unknown) => Number.isInteger(side) && Number(side) >= 14 && Number(side) <= MAX_SIDE;
  if (!isSide(width) || !isSide(height)) throw new SimulatedError(422, "Invalid image_size", { code: "value_error" });
  const format = body.output_format ?? "jpeg";
  if (format !== "jpeg" && format !== "png" && format !== "webp") {
    throw new SimulatedError(422, "Invalid output_format", { code: "literal_error" });
  }
  return { width: Number(width), height: Number(height), format, references };
}

async function referenceIn(value: unknown): Promise<DecodedImage> {
  const picture = await readInlineImage(value);
  if (picture === null) throw new SimulatedError(422, "Failed to load the image", { code: "image_load_error" });
  return picture;
}
