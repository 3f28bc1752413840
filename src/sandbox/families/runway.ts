import { isObject, listOf } from "../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { bodyOf, type Call, hasValidBearer, isMissingModel, jsonResponse, type VendorApi } from "../call.ts";
import { SimulatedError } from "../simulated_error.ts";
import {
  creationResponse,
  progressOf,
  resultFileOf,
  stateOf,
  type VideoJob,
  videoJobsByVendors,
  type VideoJobState,
} from "./video_jobs.ts";

const jobsOf = videoJobsByVendors("runway");

const VERSION = "2024-11-06";
/**
 * Lower than the gateway's price of the sandbox's models, so that a bill changes only if a directive reports more
 * seconds.
 */
const CREDITS_PER_SECOND = 5;

/** The vendor has no status for an expired task. */
const STATUSES: Readonly<Record<VideoJobState, string>> = {
  queued: "PENDING",
  running: "RUNNING",
  succeeded: "SUCCEEDED",
  failed: "FAILED",
  cancelled: "CANCELLED",
  expired: "FAILED",
};

/** Runway: create, query, cancel or delete. Source: Runway API reference, `@runwayml/sdk` 4.20.1. */
export const runway: VendorApi = {
  prefix: "/runway",
  async handle(call) {
    const file = resultFileOf(call, jobsOf(call.vendors));
    if (file !== null) return file;
    if (!hasValidBearer(call)) throw new SimulatedError(401, "The API key is invalid.");
    if (call.headers.get("x-runway-version") !== VERSION) {
      throw new SimulatedError(400, `X-Runway-Version is missing or not known: expected ${VERSION}`);
    }
    if (call.path === "/v1/organization") return jsonResponse({ creditBalance: 1_000_000 });
    if (call.method === "POST") return await create(call);
    const job = jobsOf(call.vendors).get(/^\/v1\/tasks\/([^/]+)$/.exec(call.path)?.[1] ?? "");
    if (!job) throw new SimulatedError(404, "Task not found");
    return call.method === "DELETE" ? remove(call, job) : jsonResponse(taskOf(call, job));
  },
  writeError({ status, message, details: { violations = [] } }) {
    const issues = violations.map(({ field, description }) => ({ path: [field], message: description }));
    return jsonResponse({ error: message, ...(issues.length > 0 && { issues }) }, {}, status);
  },
};

async function create(call: Call): Promise<Response> {
  const { vendors, path } = call;
  if (path !== "/v1/text_to_video" && path !== "/v1/image_to_video") throw new SimulatedError(404, "Not found");
  const body = bodyOf(call, "The request body is not valid JSON");
  const id = () => vendors.nextId().replace(/^(.{8})(.{4})(.{3})(.{3})(.{6})$/, "$1-$2-4$3-a$4-000000$5");
  const order = { prompt: String(body.promptText ?? ""), body, newId: id };
  const job = await jobsOf(vendors).create(call, order, CREATION_ERRORS, () => checkTask(path, body));
  return creationResponse(job, jsonResponse({ id: job.id, estimatedCost: { credits: creditsOf(job) } }));
}

const CREATION_ERRORS = {
  forbidden: null,
  failing: (status: number) =>
    new SimulatedError(status, status === 429 ? "You have exceeded your daily task limit" : "Shedding load"),
};

function invalid(field: string, description: string): SimulatedError {
  return new SimulatedError(400, "Validation of body failed", { violations: [{ field, description }] });
}

function checkTask(path: string, body: JsonObject): void {
  if (typeof body.model !== "string") throw invalid("model", "Required");
  if (isMissingModel(body.model)) throw invalid("model", `Model ${body.model} is not available`);
  if (typeof body.promptText !== "string" || body.promptText === "") throw invalid("promptText", "Required");
  if (body.ratio !== undefined && !/^(?:\d+:\d+|auto_\d+p|adaptive)$/.test(String(body.ratio))) {
    throw invalid("ratio", "Invalid input");
  }
  const isLength = body.duration === undefined || body.duration === "auto" || Number.isInteger(body.duration);
  if (!isLength) throw invalid("duration", "Expected an integer");
  const frames = listOf(body.promptImage);
  if (path === "/v1/image_to_video" && frames.length === 0) throw invalid("promptImage", "Required");
  for (const frame of frames) {
    if (!isObject(frame) || !["first", "last"].includes(String(frame.position))) {
      throw invalid("promptImage", "Invalid position");
    }
    refuseBadUri(frame, "promptImage");
  }
  for (const field of ["references", "referenceVideos", "referenceAudio"]) {
    for (const reference of listOf(body[field])) refuseBadUri(reference, field);
  }
}

function refuseBadUri(value: unknown, field: string): void {
  const uri = isObject(value) ? value.uri : undefined;
  if (typeof uri !== "string" || !/^(?:https:\/\/|data:|runway:\/\/)/.test(uri)) throw invalid(field, "Invalid URL");
}

/** Cancels a waiting or running task. Deletes the record and the result of an ended one. */
function remove(call: Call, job: VideoJob): Response {
  const state = stateOf(call.vendors, job);
  if (state === "queued" || state === "running") job.cancelledAt = call.vendors.clock.now();
  else jobsOf(call.vendors).delete(job.id);
  return new Response(null, { status: 204 });
}

function creditsOf({ directives, body }: VideoJob): number {
  return CREDITS_PER_SECOND * (directives.seconds ?? (Number(body.duration) || 5));
}

function taskOf(call: Call, job: VideoJob): JsonObject {
  const { directives, id, createdAt } = job;
  const state = stateOf(call.vendors, job);
  const url = `http://${call.headers.get("host")}/runway/results/${id}.mp4?token=presigned`;
  const hasEnded = state !== "queued" && state !== "running";
  return {
    id,
    createdAt: new Date(createdAt).toISOString(),
    status: state === "running" && directives.unknownStatus !== null ? directives.unknownStatus : STATUSES[state],
    ...(state === "running" && { progress: progressOf(call.vendors, job) }),
    ...(state === "succeeded" && { output: directives.end === "no_result" ? [] : [url] }),
    ...(STATUSES[state] === "FAILED" && failureOf(state, job)),
    ...(hasEnded
      ? { cost: { credits: state === "succeeded" ? creditsOf(job) : 0 } }
      : { estimatedCost: { credits: creditsOf(job) } }),
  };
}

function failureOf(state: VideoJobState, { directives }: VideoJob): JsonObject {
  if (state === "expired") return { failure: "The task has expired", failureCode: "INTERNAL" };
  return directives.end === "refusal"
    ? { failure: "The task did not pass content moderation", failureCode: "SAFETY.INPUT.TEXT" }
    : { failure: "An unexpected error occurred", failureCode: "INTERNAL.BAD_OUTPUT.CODE01" };
}
