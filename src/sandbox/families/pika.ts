import { listOf } from "../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";
import { bodyOf, type Call, isMissingModel, isRejectedKey, jsonResponse, type VendorApi } from "../call.ts";
import { SimulatedError } from "../simulated_error.ts";
import {
  creationResponse,
  resultFileOf,
  stateOf,
  type VideoJob,
  videoJobsByVendors,
  type VideoJobState,
} from "./video_jobs.ts";

const jobsOf = videoJobsByVendors("pika");

const RESOLUTIONS = ["720p", "1080p"];
/** What a second costs, in millionths of a dollar. */
const MICRO_USD: Readonly<Record<string, number>> = { "720p": 40_000, "1080p": 90_000 };
const MAX_TRANSITION_SECONDS = 10;
/** Longer transitions are between two images only. */
const MAX_SECONDS_OF_MANY = 5;

/** Checks the fields of an operation. Throws for what the vendor refuses. */
const CHECKS: Readonly<Record<string, (body: JsonObject) => void>> = {
  "pika-2.5/text-to-video": ({ prompt, duration_s = 5 }) => {
    if (typeof prompt !== "string" || prompt === "") refuse("prompt");
    if (duration_s !== 5) refuse("duration_s");
  },
  "pika-2.5/image-to-video": ({ image, duration_s = 5 }) => {
    checkAddress("image", image);
    if (duration_s !== 5 && duration_s !== 10) refuse("duration_s");
  },
  "pikaframes/image-to-video": ({ images, transition_duration_s: seconds = 5 }) => {
    const given = listOf(images);
    if (given.length < 2 || given.length > 5) refuse("images");
    for (const image of given) checkAddress("images", image);
    if (!Number.isInteger(seconds) || Number(seconds) < 1 || Number(seconds) > MAX_TRANSITION_SECONDS) {
      refuse("transition_duration_s");
    }
    if (Number(seconds) > MAX_SECONDS_OF_MANY && given.length !== 2) refuse("transition_duration_s");
  },
};

/** The vendor cannot cancel a job, and has no state for an expired one. */
const STATES: Readonly<Record<VideoJobState, string>> = {
  queued: "queued",
  running: "running",
  succeeded: "completed",
  failed: "failed",
  cancelled: "failed",
  expired: "failed",
};

/** Pika: create, query, balance. Source: Pika API documentation, as its clients follow it (autumn 2026). */
export const pika: VendorApi = {
  prefix: "/pika",
  async handle(call) {
    const file = resultFileOf(call, jobsOf(call.vendors));
    if (file !== null) return file;
    const key = call.headers.get("x-api-key") ?? "";
    if (key === "" || isRejectedKey(key)) throw new SimulatedError(401, "Invalid API key");
    if (call.path === "/billing/balance") return jsonResponse({ balance_micro_usd: 100_000_000 });
    const [, id] = /^\/v1\/media\/jobs\/([^/]+)$/.exec(call.path) ?? [];
    if (id === undefined) return await create(call);
    const job = jobsOf(call.vendors).get(decodeURIComponent(id));
    if (!job || call.method !== "GET") throw new SimulatedError(404, "Job not found");
    return jsonResponse(jobOf(call, job));
  },
  // An error with a code has the job that it ended, also if the status is that of a refusal.
  writeError({ status, message, details: { code } }, { requestId }) {
    const job = { id: `refused-${requestId}`, status: "failed", output: null, error: { code, message } };
    return jsonResponse(code === undefined ? { message } : job, {}, status);
  },
};

function pikaError(status: number, code: string, message: string): SimulatedError {
  return new SimulatedError(status, message, { code });
}

function refuse(field: string): never {
  throw pikaError(422, "invalid_input", `Invalid value for ${field}`);
}

/** The vendor fetches images. It refuses `http:` and inline ones. */
function checkAddress(field: string, address: unknown): void {
  if (typeof address !== "string" || !/^https:\/\/\S+$/.test(address)) refuse(field);
}

async function create(call: Call): Promise<Response> {
  const { vendors, path, method } = call;
  const operation = /^\/v1\/media\/pika\/(.+)$/.exec(path)?.[1] ?? "";
  const check = ownValue(CHECKS, operation);
  if (check === undefined || isMissingModel(operation) || method !== "POST") {
    throw new SimulatedError(404, "Unknown operation");
  }
  const body = bodyOf(call, "Invalid JSON");
  const order = { prompt: typeof body.prompt === "string" ? body.prompt : "", body, newId: () => vendors.nextId() };
  const job = await jobsOf(vendors).create(call, order, CREATION_ERRORS, () => {
    check(body);
    const { resolution = "1080p", seed } = body;
    if (!RESOLUTIONS.includes(String(resolution))) refuse("resolution");
    if (seed !== undefined && seed !== null && !Number.isInteger(seed)) refuse("seed");
  });
  return creationResponse(job, jsonResponse({ id: job.id, status: "queued", output: null, error: null }));
}

const CREATION_ERRORS = {
  forbidden: () => pikaError(422, "content_moderation", "The prompt was flagged by content moderation"),
  failing: (status: number) =>
    status === 429
      ? pikaError(429, "rate_limited", "Too many requests")
      : pikaError(status, "provider_unavailable", "The model is temporarily unavailable"),
};

function jobOf(call: Call, job: VideoJob): JsonObject {
  const { directives, id, body } = job;
  const state = stateOf(call.vendors, job);
  const url = `http://${call.headers.get("host")}/pika/results/${id}.mp4?sign=1`;
  const isDone = state === "succeeded";
  const video = directives.end === "no_result" ? null : { url, content_type: "video/mp4" };
  const seconds = directives.seconds ?? (Number(body.duration_s ?? body.transition_duration_s) || 5);
  return {
    id,
    status: state === "running" && directives.unknownStatus !== null ? directives.unknownStatus : STATES[state],
    output: isDone ? { media_type: "video", video } : null,
    error: STATES[state] === "failed" ? failureOf(job) : null,
    billing: isDone
      ? { state: "settled", charge_micro_usd: seconds * (MICRO_USD[String(body.resolution ?? "1080p")] ?? 0) }
      : { state: "pending" },
  };
}

function failureOf({ directives }: VideoJob): JsonObject {
  return directives.end === "refusal"
    ? { code: "content_moderation", message: "The result was flagged by content moderation" }
    : { code: "provider_error", message: "The model failed" };
}
