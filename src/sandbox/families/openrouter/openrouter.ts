import { isObject, listOf } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import {
  bodyOf,
  type Call,
  hasValidBearer,
  isMissingModel,
  jsonResponse,
  retryAfterHeader,
  type VendorApi,
} from "../../call.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { openai } from "../openai/openai.ts";
import { openrouterActivity } from "./openrouter_reports.ts";
import {
  creationResponse,
  stateOf,
  type VideoJob,
  videoJobsByVendors,
  type VideoJobState,
  videoOf,
} from "../video_jobs.ts";

const jobsOf = videoJobsByVendors("openrouter");

const VIDEOS = "/api/v1/videos";
/**
 * Lower than the gateway's price of the sandbox's models, so that a bill changes only if a directive reports more
 * seconds.
 */
const USD_PER_SECOND = 0.05;

const WORDS: Readonly<Record<VideoJobState, string>> = {
  queued: "pending",
  running: "in_progress",
  succeeded: "completed",
  failed: "failed",
  cancelled: "cancelled",
  expired: "expired",
};

const RESOLUTIONS = ["360p", "480p", "720p", "768p", "1080p", "1K", "2K", "4K"];
const RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3", "21:9", "9:21"];
const REFERENCES = ["image_url", "audio_url", "video_url"];

/**
 * OpenRouter: videos in its own format, everything else in OpenAI's. Source: OpenRouter API reference, "Video
 * Generation".
 */
export const openrouter: VendorApi = {
  prefix: "/openrouter",
  handle(call) {
    if (call.method === "GET" && call.path === "/api/v1/activity") return openrouterActivity(call);
    return isOfVideos(call) ? answerVideos(call) : openai.handle(asOpenai(call));
  },
  writeError(failure, call) {
    if (!isOfVideos(call)) return openai.writeError(failure, asOpenai(call));
    const { status, message, details } = failure;
    const error = { code: status, message, ...(details.shown && { metadata: details.shown }) };
    return jsonResponse({ error, user_id: "user_sandbox" }, retryAfterHeader(failure), status);
  },
};

function isOfVideos({ path }: Call): boolean {
  return path === VIDEOS || path.startsWith(`${VIDEOS}/`);
}

function asOpenai(call: Call): Call {
  return { ...call, path: call.path.replace(/^\/api/, "") };
}

async function answerVideos(call: Call): Promise<Response> {
  if (!hasValidBearer(call)) throw new SimulatedError(401, "No auth credentials found");
  if (call.path === VIDEOS) return await create(call);
  const [, id, file] = /^\/([^/]+)(\/content)?$/.exec(call.path.slice(VIDEOS.length)) ?? [];
  const job = jobsOf(call.vendors).get(id ?? "");
  if (!job) throw new SimulatedError(404, "Job not found");
  return file ? videoOf(call.vendors, job) : jsonResponse(jobOf(call, job));
}

async function create(call: Call): Promise<Response> {
  const { vendors } = call;
  const body = bodyOf(call, "Invalid JSON in request body");
  const newId = () => `gen-vid-${Math.floor(vendors.clock.now() / 1_000)}-${vendors.nextId().slice(0, 20)}`;
  const order = { prompt: String(body.prompt ?? ""), body, newId };
  const job = await jobsOf(vendors).create(call, order, CREATION_ERRORS, () => checkTask(body));
  return creationResponse(job, jsonResponse(jobOf(call, job), {}, 202));
}

const CREATION_ERRORS = {
  forbidden: () =>
    new SimulatedError(403, "Your input was flagged by moderation.", {
      shown: { reasons: ["violence"], flagged_input: "…" },
    }),
  failing: (status: number) =>
    new SimulatedError(status, status === 429 ? "Rate limit exceeded" : "Provider returned error"),
};

function checkTask(body: JsonObject): void {
  const model = String(body.model ?? "");
  if (model === "") throw new SimulatedError(400, "model: Required");
  if (isMissingModel(model)) throw new SimulatedError(404, `No endpoints found for ${model}.`);
  if (typeof body.prompt !== "string") throw new SimulatedError(400, "prompt: Required");
  checkAllowed(body.resolution, RESOLUTIONS, "resolution");
  checkAllowed(body.aspect_ratio, RATIOS, "aspect_ratio");
  if (body.size !== undefined && !/^\d+x\d+$/.test(String(body.size))) throw new SimulatedError(400, "size: Invalid");
  if (body.duration !== undefined && (!Number.isInteger(body.duration) || Number(body.duration) < 1)) {
    throw new SimulatedError(400, "duration: Expected a positive integer");
  }
  for (const frame of listOf(body.frame_images)) {
    refusePart(frame, ["image_url"]);
    checkAllowed((frame as JsonObject).frame_type ?? "", ["first_frame", "last_frame"], "frame_type");
  }
  for (const reference of listOf(body.input_references)) refusePart(reference, REFERENCES);
}

function refusePart(part: unknown, types: readonly string[]): void {
  const type = isObject(part) ? String(part.type) : "";
  const named = isObject(part) ? part[type] : undefined;
  const url = isObject(named) ? named.url : undefined;
  const isAddress = typeof url === "string" && /^(?:https?:\/\/|data:)/.test(url);
  if (!types.includes(type) || !isAddress) throw new SimulatedError(400, "Invalid media part");
}

function checkAllowed(value: unknown, allowed: readonly string[], name: string): void {
  if (value !== undefined && !allowed.includes(String(value))) throw new SimulatedError(400, `${name}: Invalid option`);
}

function jobOf(call: Call, job: VideoJob): JsonObject {
  const { directives, body, id } = job;
  const state = stateOf(call.vendors, job);
  const seconds = directives.seconds ?? Number(body.duration ?? 5);
  const content = `http://${call.headers.get("host")}/openrouter${VIDEOS}/${id}/content?index=0`;
  const isRejected = directives.end === "refusal";
  return {
    id,
    polling_url: `${VIDEOS}/${id}`,
    status: state === "running" && directives.unknownStatus !== null ? directives.unknownStatus : WORDS[state],
    ...(state === "failed" && {
      error: isRejected ? "Blocked by the provider's content policy" : "Provider returned error",
    }),
    ...(state === "succeeded" && {
      generation_id: id,
      ...(directives.end !== "no_result" && { unsigned_urls: [content] }),
      usage: { cost: Math.round(USD_PER_SECOND * seconds * 1e6) / 1e6, is_byok: false },
    }),
  };
}
