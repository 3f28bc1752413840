import { isObject } from "../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { bodyOf, type Call, hasValidBearer, isMissingModel, jsonResponse, type VendorApi } from "../call.ts";
import { SimulatedError } from "../simulated_error.ts";
import {
  creationResponse,
  resultFileOf,
  stateOf,
  type VideoJob,
  videoJobsByVendors,
  type VideoJobState,
} from "./video_jobs.ts";

const jobsOf = videoJobsByVendors("luma");

const RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9"];
const RESOLUTIONS = ["360p", "540p", "720p", "1080p"];
const MAX_PROMPT = 6_000;
const IMAGE_TYPES = ["image/jpeg", "image/png", "image/webp"];

/** The vendor cannot cancel a job, and has no state for an expired one. */
const STATES: Readonly<Record<VideoJobState, string>> = {
  queued: "queued",
  running: "processing",
  succeeded: "completed",
  failed: "failed",
  cancelled: "failed",
  expired: "failed",
};

/** Luma: create, query. Source: Luma Agents documentation, "Video generation", "Error handling". */
export const luma: VendorApi = {
  prefix: "/luma/v1",
  async handle(call) {
    const file = resultFileOf(call, jobsOf(call.vendors));
    if (file !== null) return file;
    if (!hasValidBearer(call)) throw new SimulatedError(401, "Invalid or missing API key");
    if (call.path === "/generations" && call.method === "POST") return await create(call);
    const job = jobsOf(call.vendors).get(/^\/generations\/([^/]+)$/.exec(call.path)?.[1] ?? "");
    if (!job || call.method !== "GET") throw new SimulatedError(404, "Not Found");
    return jsonResponse(generationOf(call, job));
  },
  writeError: ({ status, message }) => jsonResponse({ detail: message }, {}, status),
};

async function create(call: Call): Promise<Response> {
  const { vendors } = call;
  const body = bodyOf(call, "Invalid JSON");
  const prompt = typeof body.prompt === "string" ? body.prompt : "";
  const order = { prompt, body, newId: () => vendors.nextId() };
  const job = await jobsOf(vendors).create(call, order, CREATION_ERRORS, () => checkGeneration(body));
  return creationResponse(job, jsonResponse(generationOf(call, job), {}, 201));
}

const CREATION_ERRORS = {
  forbidden: null,
  failing: (status: number) =>
    new SimulatedError(status, status === 429 ? "Rate limit exceeded" : "Upstream service unavailable"),
};

function checkGeneration({ model, type, prompt, aspect_ratio, video = {} }: JsonObject): void {
  if (typeof prompt !== "string" || prompt === "" || prompt.length > MAX_PROMPT) refuse("prompt");
  if (typeof model !== "string" || isMissingModel(model)) refuse("model");
  if (type !== "video" || !isObject(video)) return refuse("type");
  const { resolution = "720p", duration = "5s", start_frame, end_frame, hdr, loop } = video;
  if (aspect_ratio !== undefined && !RATIOS.includes(String(aspect_ratio))) refuse("aspect_ratio");
  if (!RESOLUTIONS.includes(String(resolution))) refuse("video.resolution");
  if (duration !== "5s" && duration !== "10s") refuse("video.duration");
  const isShortOnly = start_frame !== undefined || end_frame !== undefined || hdr === true || loop === true;
  if (duration === "10s" && isShortOnly) {
    throw new SimulatedError(422, "duration 10s is not supported with start_frame, end_frame, hdr or loop");
  }
  for (const frame of [start_frame, end_frame]) if (frame !== undefined) checkFrame(frame);
}

/** Exactly one of an address, bytes or an earlier generation. */
function checkFrame(frame: unknown): void {
  const { url, data, media_type, generation_id } = isObject(frame) ? frame : {};
  if ([url, data, generation_id].filter((each) => each !== undefined).length !== 1) refuse("video.start_frame");
  if (url !== undefined && !/^https?:\/\//.test(String(url))) refuse("video.start_frame.url");
  if (data !== undefined && (!IMAGE_TYPES.includes(String(media_type)) || String(data).startsWith("data:"))) {
    throw new SimulatedError(422, "Invalid image data");
  }
}

function refuse(field: string): void {
  throw new SimulatedError(400, `Invalid value for ${field}`);
}

function generationOf(call: Call, job: VideoJob): JsonObject {
  const { directives, id, body, createdAt } = job;
  const state = stateOf(call.vendors, job);
  const url = `http://${call.headers.get("host")}/luma/v1/results/${id}.mp4?sign=1`;
  const isDone = state === "succeeded" && directives.end !== "no_result";
  return {
    id,
    type: "video",
    model: body.model,
    created_at: new Date(createdAt).toISOString(),
    state: state === "running" && directives.unknownStatus !== null ? directives.unknownStatus : STATES[state],
    output: isDone ? [{ type: "video", url }] : [],
    ...(STATES[state] === "failed" && failureOf(job)),
  };
}

function failureOf({ directives }: VideoJob): JsonObject {
  return directives.end === "refusal"
    ? { failure_code: "content_moderated", failure_reason: "The prompt violated content guidelines" }
    : { failure_code: "generation_failed", failure_reason: "Internal model error" };
}
