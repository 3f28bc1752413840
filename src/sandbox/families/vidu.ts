import { isObject, listOf } from "../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
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

const jobsOf = videoJobsByVendors("vidu");

const RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4"];
const RESOLUTIONS = ["540p", "720p", "1080p"];
const MAX_PROMPT = 5_000;

/** What an endpoint takes: its models, and the counts of images. */
interface Endpoint {
  /** The vendor's models; other names are accepted too, as those of models that are newer. */
  readonly models: RegExp;
  readonly images: readonly [min: number, max: number];
  /** Whether the field `aspect_ratio` exists. */
  readonly hasRatio: boolean;
}

const FRAME_MODELS = /^vidu(?:q3-(?:pro|pro-fast|turbo)|q2-(?:pro|pro-fast|turbo)|q1|q1-classic|2\.0)$/;

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  text2video: { models: /^vidu(?:q3-pro|q3-turbo|q2|q1)$/, images: [0, 0], hasRatio: true },
  img2video: { models: FRAME_MODELS, images: [1, 1], hasRatio: false },
  "start-end2video": { models: FRAME_MODELS, images: [2, 2], hasRatio: false },
  reference2video: {
    models: /^vidu(?:q3|q3-turbo|q3-mix|q2|q2-pro|q1|2\.0)$/,
    images: [1, 7],
    hasRatio: true,
  },
};

/** The longest video of a model family, in seconds. */
const MAX_SECONDS = [[/^viduq2/, 10], [/^viduq1/, 5], [/^vidu2/, 8], [/^/, 16]] as const;

/** The shortest video of `viduq3`, as six clients state it. */
const MIN_REFERENCE_SECONDS = 3;

/** A cancelled job has no state of its own, and the vendor has none for an expired one. */
const STATES: Readonly<Record<VideoJobState, string>> = {
  queued: "queueing",
  running: "processing",
  succeeded: "success",
  failed: "failed",
  cancelled: "failed",
  expired: "failed",
};

/** Vidu: create, query, cancel, credits. Source: Vidu API documentation, "Text to Video" and its siblings. */
export const vidu: VendorApi = {
  prefix: "/vidu",
  async handle(call) {
    const file = resultFileOf(call, jobsOf(call.vendors), ["mp4", "png"]);
    if (file !== null) return file;
    const key = /^Token +(\S+)$/.exec(call.headers.get("authorization") ?? "")?.[1];
    if (key === undefined || isRejectedKey(key)) throw viduError(401, "Unauthorized", "unauthorized");
    if (call.path === "/ent/v2/credits") return jsonResponse({ remains: [{ type: "metered", credit_remain: 10_000 }] });
    const [, id, what] = /^\/ent\/v2\/tasks\/([^/]+)\/(creations|cancel)$/.exec(call.path) ?? [];
    if (id === undefined) return await create(call);
    const job = jobsOf(call.vendors).get(decodeURIComponent(id));
    if (!job) throw viduError(404, "TaskNotFound", "task not found");
    return what === "cancel" ? cancel(call, job) : jsonResponse(taskOf(call, job));
  },
  writeError({ status, message, details: { code } }, { requestId }) {
    return jsonResponse({ code: status, reason: code, message, metadata: { trace_id: requestId } }, {}, status);
  },
};

function viduError(status: number, reason: string, message: string): SimulatedError {
  return new SimulatedError(status, message, { code: reason });
}

function invalid(field: string): SimulatedError {
  return viduError(400, "FieldInvalid", `invalid field: ${field}`);
}

async function create(call: Call): Promise<Response> {
  const { vendors, path, method } = call;
  const kind = /^\/ent\/v2\/([^/]+)$/.exec(path)?.[1] ?? "";
  const endpoint = Object.hasOwn(ENDPOINTS, kind) ? ENDPOINTS[kind] : undefined;
  if (endpoint === undefined || method !== "POST") throw viduError(404, "NotFound", "not found");
  const body = bodyOf(call, "bad request");
  const order = { prompt: typeof body.prompt === "string" ? body.prompt : "", body, newId: () => vendors.nextId() };
  const job = await jobsOf(vendors).create(call, order, CREATION_ERRORS, () => checkTask(body, endpoint));
  const { model, images = [], prompt, duration = 5 } = body;
  return creationResponse(job, jsonResponse({ task_id: job.id, state: "created", model, images, prompt, duration }));
}

const CREATION_ERRORS = {
  forbidden: () => viduError(400, "AuditSubmitIllegal", "submit is illegal"),
  failing: (status: number) =>
    status === 429
      ? viduError(429, "QuotaExceeded", "quota exceeded")
      : viduError(status, "InternalServiceFailure", "internal service failure"),
};

function checkTask(body: JsonObject, { models, images: [min, max], hasRatio }: Endpoint): void {
  const { model, prompt, duration, resolution, aspect_ratio, audio, seed } = body;
  if (typeof model !== "string") throw viduError(400, "FieldLacking", "field is missing or empty: model");
  if (isMissingModel(model)) throw viduError(400, "ModelUnavailable", "model unavailable");
  if (/^vidu/.test(model) && !models.test(model)) throw invalid("model");
  if (min === 0 && (typeof prompt !== "string" || prompt === "")) {
    throw viduError(400, "FieldLacking", "field is missing or empty: prompt");
  }
  if (String(prompt ?? "").length > MAX_PROMPT) throw invalid("prompt");
  const longest = MAX_SECONDS.find(([pattern]) => pattern.test(model))?.[1] ?? 0;
  if (duration !== undefined && !(Number.isInteger(duration) && Number(duration) >= 1 && Number(duration) <= longest)) {
    throw invalid("duration");
  }
  if (model === "viduq3" && Number(duration ?? 5) < MIN_REFERENCE_SECONDS) throw invalid("duration");
  if (resolution !== undefined && !RESOLUTIONS.includes(String(resolution))) throw invalid("resolution");
  // Observed by a client: this model has no 540p.
  if (/-pro-fast$/.test(model) && resolution === "540p") throw invalid("resolution");
  if (aspect_ratio !== undefined && !hasRatio) throw viduError(400, "FieldUnwanted", "unwanted field: aspect_ratio");
  if (aspect_ratio !== undefined && !RATIOS.includes(String(aspect_ratio))) throw invalid("aspect_ratio");
  if (audio !== undefined && typeof audio !== "boolean") throw invalid("audio");
  if (seed !== undefined && !Number.isInteger(seed)) throw invalid("seed");
  checkMedia(body, min, max);
}

function checkMedia({ images, videos, model }: JsonObject, min: number, max: number): void {
  if (images !== undefined && max === 0) throw viduError(400, "FieldUnwanted", "unwanted field: images");
  const given = listOf(images);
  const clips = listOf(videos);
  if (clips.length > 0 && model !== "viduq2-pro" && /^vidu/.test(String(model))) {
    throw viduError(400, "FieldUnwanted", "unwanted field: videos");
  }
  const fewest = clips.length > 0 ? 0 : min;
  if (given.length < fewest || given.length > max) {
    throw viduError(400, "FieldItemCountOutOfRange", "field item count out of range: images");
  }
  for (const image of given) {
    if (typeof image === "string" && /^https?:\/\//.test(image)) continue;
    if (typeof image !== "string" || !/^data:image\/(?:png|jpe?g|webp);base64,/.test(image)) {
      throw viduError(400, "ImageFormatInvalid", "invalid image format");
    }
  }
}

/** Cancels a waiting task. A task that runs or has ended is refused. */
function cancel(call: Call, job: VideoJob): Response {
  if (stateOf(call.vendors, job) !== "queued") {
    throw viduError(400, "BadRequest", "task state is scheduled, can not cancel");
  }
  job.cancelledAt = call.vendors.clock.now();
  return jsonResponse({});
}

function taskOf(call: Call, job: VideoJob): JsonObject {
  const { directives, id, body } = job;
  const state = stateOf(call.vendors, job);
  const place = `http://${call.headers.get("host")}/vidu/results/${id}`;
  const isDone = state === "succeeded" && directives.end !== "no_result";
  return {
    id,
    state: state === "running" && directives.unknownStatus !== null ? directives.unknownStatus : STATES[state],
    err_code: errorCodeOf(state, job),
    credits: 20 * (directives.seconds ?? (Number(body.duration) || 5)),
    payload: isObject(body) && typeof body.payload === "string" ? body.payload : "",
    creations: isDone ? [{ id: `c-${id}`, url: `${place}.mp4?sign=1`, cover_url: `${place}.png?sign=1` }] : [],
  };
}

function errorCodeOf(state: VideoJobState, { directives }: VideoJob): string {
  if (state === "cancelled") return "UserCancelled";
  if (STATES[state] !== "failed") return "";
  return directives.end === "refusal" ? "CreationPolicyViolation" : "InternalServiceFailure";
}
