import { Buffer } from "node:buffer";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { bodyOf, type Call, isMissingModel, jsonResponse } from "../../call.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { listIn } from "./google_fields.ts";
import { SAMPLE_VIDEO } from "../sample_video.ts";
import { creationResponse, stateOf, type VideoJob, videoJobsByVendors, videoOf } from "../video_jobs.ts";

const jobsOf = videoJobsByVendors("google");

const RATIOS = ["16:9", "9:16"];
const RESOLUTIONS = ["360p", "720p", "1080p", "4k"];
const DURATION = /^([1-9]|1[0-5])(\.\d+)?s$/;

/** Handles videos as background interactions. Source: Gemini API reference, "Interactions" (create, get, cancel). */
export async function interactions(call: Call, rest: string): Promise<Response> {
  const [, id, verb] = rest.split("/");
  if (id === undefined) {
    if (call.method === "POST") return await create(call);
    throw notFound();
  }
  const job = jobsOf(call.vendors).get(decodeURIComponent(id));
  if (!job) throw new SimulatedError(400, "Invalid interaction name.");
  if (verb === "cancel" && call.method === "POST") return cancel(call, job);
  if (verb === undefined && call.method === "GET") return jsonResponse(interactionOf(call, job));
  throw notFound();
}

/** Returns the file of a finished interaction. Its address requires the key. */
export function videoFile(call: Call, rest: string): Response {
  const id = /^files\/([\w-]+):download$/.exec(rest)?.[1];
  return videoOf(call.vendors, id === undefined ? undefined : jobsOf(call.vendors).get(id));
}

function notFound(): SimulatedError {
  return new SimulatedError(404, "The requested URL was not found on this server.");
}

async function create(call: Call): Promise<Response> {
  const { vendors } = call;
  const body = bodyOf(call, "Invalid JSON payload received. Expected a JSON object.");
  const order = { prompt: promptOf(body), body, newId: () => `v1_${vendors.nextId()}` };
  const job = await jobsOf(vendors).create(call, order, CREATION_ERRORS, () => {
    if (isMissingModel(String(body.model))) throw new SimulatedError(404, "The model is not found.");
    checkRequest(body);
  });
  return creationResponse(job, jsonResponse(interactionOf(call, job)));
}

const CREATION_ERRORS = {
  forbidden: () =>
    new SimulatedError(400, "The prompt was blocked: PROHIBITED_CONTENT.", { code: "PROHIBITED_CONTENT" }),
  failing: (status: number) => new SimulatedError(status, "The service is currently unavailable."),
};

/** Rejects what the vendor rejects at once. */
function checkRequest(body: JsonObject): void {
  if (body.background !== true) throw new SimulatedError(400, "Videos are made in the background only.");
  const format = body.response_format;
  if (!isObject(format) || format.type !== "video") {
    throw new SimulatedError(400, "Expected response_format of type video.");
  }
  checkAllowed(format.aspect_ratio, RATIOS, "aspect_ratio");
  checkAllowed(format.resolution, RESOLUTIONS, "resolution");
  if (format.duration !== undefined && !DURATION.test(String(format.duration))) {
    throw new SimulatedError(
      400,
      "Invalid value at 'response_format.duration' (type.googleapis.com/google.protobuf.Duration).",
    );
  }
  const media = listIn(body.input).filter((part) => isObject(part) && part.type !== "text") as JsonObject[];
  const isLinked = media.some(({ type, data }) => type === "video" && typeof data !== "string");
  if (isLinked) throw new SimulatedError(400, "Videos are taken as inline data only.");
}

function checkAllowed(value: unknown, allowed: readonly string[], name: string): void {
  if (value !== undefined && !allowed.includes(String(value))) {
    throw new SimulatedError(400, `${name} is not supported.`);
  }
}

function promptOf({ input }: JsonObject): string {
  if (typeof input === "string") return input;
  return listIn(input).map((part) => isObject(part) && part.type === "text" ? String(part.text) : "").join(" ");
}

function cancel(call: Call, job: VideoJob): Response {
  const state = stateOf(call.vendors, job);
  if (state !== "queued" && state !== "running") throw new SimulatedError(400, "The interaction has ended.");
  job.cancelledAt = call.vendors.clock.now();
  return jsonResponse(interactionOf(call, job));
}

const WORDS = {
  queued: "queued",
  running: "in_progress",
  succeeded: "completed",
  failed: "failed",
  cancelled: "cancelled",
  expired: "incomplete",
} as const;

function interactionOf(call: Call, job: VideoJob): JsonObject {
  const { directives, body } = job;
  const state = stateOf(call.vendors, job);
  const isRejected = state === "failed" && directives.end === "refusal";
  const status = state === "running" && directives.unknownStatus !== null ? directives.unknownStatus : WORDS[state];
  return {
    id: job.id,
    object: "interaction",
    model: body.model,
    created: new Date(job.createdAt).toISOString(),
    // A refusal is reported as text, with the status of a success.
    status: isRejected ? "completed" : status,
    ...(state === "succeeded" || isRejected ? { steps: [{ type: "model_output", content: outputOf(call, job) }] } : {}),
    ...(state === "failed" && !isRejected ? { error: { code: "internal", message: "The model failed." } } : {}),
  };
}

function outputOf(call: Call, { id, directives }: VideoJob): JsonObject[] {
  if (directives.end === "refusal") return [{ type: "text", text: "I can't make that video." }];
  if (directives.end === "no_result") return [];
  const video = { type: "video", mime_type: "video/mp4" };
  if (directives.isInline) return [{ ...video, data: Buffer.from(SAMPLE_VIDEO).toString("base64") }];
  return [{ ...video, uri: `http://${call.headers.get("host")}/google/v1beta/files/${id}:download?alt=media` }];
}
