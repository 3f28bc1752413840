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

const jobsOf = videoJobsByVendors("dream_machine");

const RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9", "9:21"];
const RESOLUTIONS = ["540p", "720p", "1080p", "4k"];
const DURATIONS = ["5s", "9s"];

/** A deleted job is unknown, and the vendor has no state for an expired one. */
const STATES: Readonly<Record<VideoJobState, string>> = {
  queued: "queued",
  running: "dreaming",
  succeeded: "completed",
  failed: "failed",
  cancelled: "failed",
  expired: "failed",
};

/** Luma's Dream Machine: create, query, credits. Source: Dream Machine API reference; `lumaai` 1.19.1. */
export const dreamMachine: VendorApi = {
  prefix: "/dream-machine/v1",
  async handle(call) {
    const file = resultFileOf(call, jobsOf(call.vendors), ["mp4", "jpg"]);
    if (file !== null) return file;
    if (!hasValidBearer(call)) throw new SimulatedError(401, "Not authenticated");
    if (call.path === "/credits") return jsonResponse({ credit_balance: 1_000_000 });
    if (call.path === "/generations/video" && call.method === "POST") return await create(call);
    const job = jobsOf(call.vendors).get(/^\/generations\/([^/]+)$/.exec(call.path)?.[1] ?? "");
    if (!job || call.method !== "GET") throw new SimulatedError(404, "Generation not found");
    return jsonResponse(generationOf(call, job));
  },
  writeError: ({ status, message, details: { param } }) =>
    jsonResponse({ detail: param ? [{ type: "enum", loc: ["body", param], msg: message }] : message }, {}, status),
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
  forbidden: () => new SimulatedError(400, "Prompt did not pass moderation"),
  failing: (status: number) =>
    new SimulatedError(status, status === 429 ? "Too many concurrent generations" : "Internal server error"),
};

function checkGeneration(body: JsonObject): void {
  const { model, prompt, aspect_ratio, resolution, duration, keyframes = {} } = body;
  if (typeof model !== "string" || isMissingModel(model)) refuse("model");
  if (typeof prompt !== "string" || prompt === "") refuse("prompt");
  if (aspect_ratio !== undefined && !RATIOS.includes(String(aspect_ratio))) refuse("aspect_ratio");
  if (resolution !== undefined && !RESOLUTIONS.includes(String(resolution))) refuse("resolution");
  if (duration !== undefined && !DURATIONS.includes(String(duration))) refuse("duration");
  if (!isObject(keyframes)) return refuse("keyframes");
  for (const frame of [keyframes.frame0, keyframes.frame1]) {
    if (frame === undefined) continue;
    const isImage = isObject(frame) && frame.type === "image" && /^https?:\/\//.test(String(frame.url));
    if (!isImage) refuse("keyframes");
  }
}

function refuse(field: string): void {
  throw new SimulatedError(422, `Input is not valid for ${field}`, { param: field });
}

function generationOf(call: Call, job: VideoJob): JsonObject {
  const { directives, id, body, createdAt } = job;
  const state = stateOf(call.vendors, job);
  const place = `http://${call.headers.get("host")}/dream-machine/v1/results/${id}`;
  const isDone = state === "succeeded" && directives.end !== "no_result";
  return {
    id,
    generation_type: "video",
    model: body.model,
    created_at: new Date(createdAt).toISOString(),
    state: state === "running" && directives.unknownStatus !== null ? directives.unknownStatus : STATES[state],
    failure_reason: STATES[state] === "failed" ? reasonOf(job) : null,
    assets: isDone ? { video: `${place}.mp4`, image: `${place}.jpg` } : null,
  };
}

function reasonOf({ directives }: VideoJob): string {
  return directives.end === "refusal" ? "Content did not pass moderation" : "Job failed";
}
