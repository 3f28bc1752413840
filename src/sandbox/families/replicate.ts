import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { isObject, listOf } from "../../conversation/neutral/wire_value.ts";
import type { MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import { delay } from "../chunk_stream.ts";
import { bodyOf, type Call, hasValidBearer, isMissingModel, jsonResponse, type VendorApi } from "../call.ts";
import { readInlineImage } from "../pictures/data_uri.ts";
import { type DecodedImage, decodeImage, type SimulatedImageFormat } from "../pictures/file.ts";
import { SimulatedError } from "../simulated_error.ts";
import type { SimulatedVendors } from "../simulated_vendors.ts";
import { type ImageJobShape, simulatedImageOf } from "./picture_jobs.ts";
import {
  creationResponse,
  stateOf,
  type VideoJob,
  videoJobsByVendors,
  type VideoJobState,
  videoOf,
} from "./video_jobs.ts";

const jobsOf = videoJobsByVendors("replicate");
/** Each sandbox's uploads by name. */
const UPLOADS = new WeakMap<SimulatedVendors, Map<string, Blob>>();

const WORDS: Readonly<Record<VideoJobState, string>> = {
  queued: "starting",
  running: "processing",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "canceled",
  expired: "aborted",
};

const IMAGES = /^(?:image|input_image|image_prompt|input_images|image_input)$/;
const IMAGE_FIELDS = /^(?:prompt|aspect_ratio|output_format|seed|num_outputs|quality|background)$/;
const VIDEO_FIELDS =
  /^(?:prompt|negative_prompt|duration|resolution|mode|aspect_ratio|generate_audio|seed|image|(?:start|end)_image|last_frame|(?:first|last)_frame_image|reference_(?:images|videos?|audios))$/;
const FORMATS: Readonly<Record<string, SimulatedImageFormat>> = { jpg: "jpeg", jpeg: "jpeg", png: "png", webp: "webp" };

const SENSITIVE = "The input or output was flagged as sensitive. Please try again with different inputs. (E005)";
const SIDE = 1_024;
const GRAIN = 16;
const MAX_WAIT_SECONDS = 60;

/**
 * Replicate: pictures, and videos for models with the name of a video model. Source: Replicate HTTP API reference,
 * "Create a prediction", "Get a prediction", "Cancel a prediction".
 */
export const replicate: VendorApi = {
  prefix: "/replicate",
  async handle(call) {
    const [, fileId, what] = /^\/files\/([\w-]+)\/(out-0|video)/.exec(call.path) ?? [];
    // A file needs no key.
    if (fileId !== undefined && what !== undefined) return await fileOf(call, jobsOf(call.vendors).get(fileId), what);
    if (!hasValidBearer(call)) throw new SimulatedError(401, "You did not pass a valid authentication token");
    const { method, path } = call;
    if (method === "GET" && path === "/v1/account") return jsonResponse({ type: "user", username: "sandbox" });
    if (method === "POST" && path === "/v1/files") return upload(call);
    if (method === "POST" && /^\/v1\/(?:models\/[^/]+\/[^/]+\/)?predictions$/.test(path)) return await create(call);
    const [, id, cancels] = /^\/v1\/predictions\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
    const job = jobsOf(call.vendors).get(id ?? "");
    if (job === undefined) throw new SimulatedError(404, "The requested resource could not be found.");
    if (cancels && method === "POST") cancel(call, job);
    return jsonResponse(predictionOf(call, job));
  },
  writeError({ status, message, details }) {
    const invalid = details.param === undefined
      ? {}
      : { invalid_fields: [{ field: details.param, description: message }] };
    const wait = status === 429 ? " Your rate limit resets in ~1s." : "";
    return jsonResponse({ title: "Request failed", detail: message + wait, status, ...invalid }, {}, status);
  },
};

function upload({ form, vendors, headers }: Call): Response {
  const file = form?.get("content");
  if (!(file instanceof Blob)) throw new SimulatedError(400, "Missing content");
  const id = vendors.nextId();
  const uploads = UPLOADS.get(vendors) ?? new Map<string, Blob>();
  UPLOADS.set(vendors, uploads.set(id, file));
  return jsonResponse({ id, urls: { get: `http://${headers.get("host")}/replicate/v1/files/${id}` } }, {}, 201);
}

async function create(call: Call): Promise<Response> {
  const body = bodyOf(call, "The body is not valid JSON.");
  const model = String(body.version ?? call.path.split("/").slice(3, 5).join("/"));
  if (isMissingModel(model)) throw new SimulatedError(404, "The requested resource could not be found.");
  const input = isObject(body.input) ? body.input : {};
  if (typeof input.prompt !== "string" || input.prompt === "") {
    throw new SimulatedError(422, "- input: prompt is required", { param: "input" });
  }
  const isKnown = (name: string) =>
    isVideo(model) ? VIDEO_FIELDS.test(name) : IMAGE_FIELDS.test(name) || IMAGES.test(name);
  const unknown = Object.keys(input).find((name) => !isKnown(name));
  if (unknown !== undefined) {
    throw new SimulatedError(422, `- input: Additional property ${unknown} is not allowed`, { param: "input" });
  }
  if (!isVideo(model)) await shapeOf(input, call.vendors);
  const job = await jobsOf(call.vendors).create(
    call,
    { prompt: input.prompt, body: { ...input, model }, newId: () => call.vendors.nextId() },
    {
      forbidden: () => new SimulatedError(422, SENSITIVE),
      failing: (status) =>
        new SimulatedError(status, status === 429 ? "Request was throttled." : "Internal server error."),
    },
  );
  await waitFor(call, job);
  return creationResponse(job, jsonResponse(predictionOf(call, job), {}, 201));
}

/** With `Prefer: wait`, the response is sent when the job has ended, or after that many seconds. */
async function waitFor(call: Call, { directives }: VideoJob): Promise<void> {
  const [, seconds] = /^wait(?:=(\d+))?$/.exec(call.headers.get("prefer") ?? "") ?? [null, "0"];
  const mostMs = Math.min(Number(seconds ?? MAX_WAIT_SECONDS), MAX_WAIT_SECONDS) * 1_000;
  const lastsMs = directives.end === "never" ? Infinity : directives.queueMs + directives.runMs;
  if (mostMs > 0) await delay(call.vendors.clock, Math.min(mostMs, lastsMs), call.signal);
}

function cancel(call: Call, job: VideoJob): void {
  const state = stateOf(call.vendors, job);
  if (state === "queued" || state === "running") job.cancelledAt = call.vendors.clock.now();
}

function predictionOf(call: Call, job: VideoJob): JsonObject {
  const { id, body: { model, ...input }, directives } = job;
  const state = stateOf(call.vendors, job);
  const origin = `http://${call.headers.get("host")}/replicate`;
  const isThere = state === "succeeded" && directives.end !== "no_result";
  const place = `${origin}/v1/predictions/${id}`;
  return {
    id,
    model,
    input,
    logs: "",
    status: state === "running" && directives.unknownStatus !== null ? directives.unknownStatus : WORDS[state],
    output: isThere
      ? isVideo(String(model)) ? `${origin}/files/${id}/video.mp4` : [`${origin}/files/${id}/out-0`]
      : null,
    error: state !== "failed" ? null : directives.end === "refusal" ? SENSITIVE : "Prediction failed",
    data_removed: false,
    created_at: new Date(job.createdAt).toISOString(),
    started_at: state === "queued" ? null : new Date(job.createdAt + directives.queueMs).toISOString(),
    urls: { get: place, cancel: `${place}/cancel` },
  };
}

function fileOf(call: Call, job: VideoJob | undefined, what: string): MaybePromise<Response> {
  return what === "video"
    ? videoOf(call.vendors, job)
    : simulatedImageOf(call, job, 0, (body) => shapeOf(body, call.vendors));
}

function isVideo(model: string): boolean {
  return /video|veo|seedance|kling|hailuo|wan-/.test(model);
}

/** Throws {@linkcode SimulatedError} for what the vendor rejects. */
async function shapeOf(input: JsonObject, vendors: SimulatedVendors): Promise<ImageJobShape> {
  const values = Object.keys(input).filter((name) => IMAGES.test(name)).flatMap((name) =>
    Array.isArray(input[name]) ? listOf(input[name]) : [input[name]]
  );
  const references = await Promise.all(values.map((value) => referenceIn(value, vendors)));
  const format = FORMATS[String(input.output_format ?? "webp")];
  if (format === undefined) throw new SimulatedError(422, "- input.output_format: must be one of webp, jpg, png");
  const { aspect_ratio = "1:1" } = input;
  const [, across, down] = /^(\d+):(\d+)$/.exec(String(aspect_ratio)) ?? [];
  if (across === undefined && aspect_ratio !== "match_input_image") {
    throw new SimulatedError(422, "- input.aspect_ratio: must be one of the enum values");
  }
  const [first] = references;
  const ratio = across !== undefined ? Number(across) / Number(down) : first ? first.width / first.height : 1;
  return { width: sideOf(ratio), height: sideOf(1 / ratio), format, references };
}

function sideOf(ratio: number): number {
  return Math.round(SIDE * Math.sqrt(ratio) / GRAIN) * GRAIN;
}

async function referenceIn(value: unknown, vendors: SimulatedVendors): Promise<DecodedImage> {
  const upload = UPLOADS.get(vendors)?.get(/\/replicate\/v1\/files\/(\w+)$/.exec(String(value).slice(-100))?.[1] ?? "");
  const picture = upload ? await decodeImage(await upload.bytes(), upload.type) : await readInlineImage(value);
  if (picture === null) throw new SimulatedError(422, "- input.image: is no image");
  return picture;
}
