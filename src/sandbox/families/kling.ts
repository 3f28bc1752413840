import { Buffer } from "node:buffer";
import { isObject, listOf, parsedOrNull } from "../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import {
  bodyOf,
  type Call,
  hasValidBearer,
  isMissingModel,
  isRejectedKey,
  jsonResponse,
  type VendorApi,
} from "../call.ts";
import { SimulatedError } from "../simulated_error.ts";
import {
  creationResponse,
  resultFileOf,
  stateOf,
  type VideoJob,
  videoJobsByVendors,
  type VideoJobState,
} from "./video_jobs.ts";

const jobsOf = videoJobsByVendors("kling");

const KINDS = ["text2video", "image2video", "multi-image2video", "omni-video"];
const MODES = ["std", "pro", "4k"];
const RATIOS = ["16:9", "9:16", "1:1"];

/** The vendor has no status for a cancelled or expired job. */
const STATUSES: Readonly<Record<VideoJobState, string>> = {
  queued: "submitted",
  running: "processing",
  succeeded: "succeed",
  failed: "failed",
  cancelled: "failed",
  expired: "failed",
};

/** Kling: create, query by either id, list. Source: Kling API reference, "Text to Video" and its siblings. */
export const kling: VendorApi = {
  prefix: "/kling",
  async handle(call) {
    const file = resultFileOf(call, jobsOf(call.vendors));
    if (file !== null) return file;
    checkToken(call);
    const [, kind, id] = /^\/v1\/videos\/([^/]+)(?:\/([^/]+))?$/.exec(call.path) ?? [];
    if (kind === undefined || !KINDS.includes(kind)) throw klingError(404, 1202, "Invalid request method");
    if (call.method === "POST") return await create(call, kind);
    const jobs = jobsOf(call.vendors).newestFirst().filter(({ body }) => body.kind === kind);
    if (id === undefined) return envelope(call, jobs.slice(0, pageSizeOf(call)).map((job) => jobOf(call, job)));
    const name = decodeURIComponent(id);
    const job = jobs.find((each) => each.id === name || each.body.external_task_id === name);
    if (!job) throw klingError(404, 1203, "Task not found");
    return envelope(call, jobOf(call, job));
  },
  writeError({ status, message, details }, call) {
    return jsonResponse({ code: Number(details.code ?? 1201), message, request_id: call.requestId }, {}, status);
  },
};

function klingError(status: number, code: number, message: string): SimulatedError {
  return new SimulatedError(status, message, { code: String(code) });
}

/** Accepts a plain key, or a currently valid token that names one. The token's signature is not checked. */
function checkToken(call: Call): void {
  if (!hasValidBearer(call)) throw klingError(401, 1002, "Authorization is invalid");
  const [, claims] = (call.headers.get("authorization") ?? "").split(".");
  const read = claims === undefined ? null : parsedOrNull(Buffer.from(claims, "base64url").toString());
  if (!isObject(read)) return;
  const now = call.vendors.clock.now() / 1_000;
  if (isRejectedKey(String(read.iss))) throw klingError(401, 1002, "access key not found");
  if (Number(read.nbf) > now) throw klingError(401, 1003, "Authorization is not yet valid");
  if (Number(read.exp) <= now) throw klingError(401, 1004, "Authorization has expired");
}

function pageSizeOf({ query }: Call): number {
  return Math.min(Number(query.get("pageSize")) || 30, 500);
}

function envelope({ requestId }: Call, data: unknown): Response {
  return jsonResponse({ code: 0, message: "SUCCEED", request_id: requestId, data });
}

async function create(call: Call, kind: string): Promise<Response> {
  const { vendors } = call;
  const body = { ...bodyOf(call, "The request body is not valid JSON"), kind };
  const order = { prompt: promptOf(body), body, newId: () => vendors.nextId() };
  const job = await jobsOf(vendors).create(call, order, CREATION_ERRORS, () => checkTask(call, body));
  return creationResponse(job, envelope(call, jobOf(call, job)));
}

const CREATION_ERRORS = {
  forbidden: () => klingError(400, 1301, "Failure to pass the risk control system"),
  failing: (status: number) =>
    status === 429
      ? klingError(429, 1303, "parallel task over resource pack limit")
      : klingError(status, status === 503 ? 5001 : 5000, "Service internal error"),
};

type Body = JsonObject & { readonly kind: string };

function promptOf(body: Body): string {
  return typeof body.prompt === "string" ? body.prompt : "";
}

function checkTask({ vendors }: Call, body: Body): void {
  const model = String(body.model_name ?? "kling-v1");
  if (isMissingModel(model)) throw klingError(400, 1201, `model ${model} is not supported`);
  if (promptOf(body) === "") throw klingError(400, 1201, "prompt is required");
  if (promptOf(body).length > 2_500) throw klingError(400, 1201, "prompt is too long");
  const isLength = body.duration === undefined || (typeof body.duration === "string" && /^\d+$/.test(body.duration));
  if (!isLength) throw klingError(400, 1201, "duration is invalid: expected text");
  checkAllowed(body.mode, MODES, "mode");
  checkAllowed(body.aspect_ratio, RATIOS, "aspect_ratio");
  checkAllowed(body.sound, ["on", "off"], "sound");
  for (const image of imagesOf(body)) {
    if (typeof image !== "string" || image === "" || image.startsWith("data:")) {
      throw klingError(400, 1201, "image is invalid: expected an address or base64 without prefix");
    }
  }
  const name = body.external_task_id;
  if (jobsOf(vendors).newestFirst().some((job) => name !== undefined && job.body.external_task_id === name)) {
    throw klingError(400, 1201, "external_task_id exists already");
  }
}

function imagesOf(body: Body): unknown[] {
  switch (body.kind) {
    case "image2video":
      return [body.image, ...(body.image_tail === undefined ? [] : [body.image_tail])];
    case "multi-image2video":
      return listOf(body.image_list).map((item) => isObject(item) ? item.image : null);
    case "omni-video":
      return listOf(body.image_list).map((item) => isObject(item) ? item.image_url : null);
    default:
      return [];
  }
}

function checkAllowed(value: unknown, allowed: readonly string[], name: string): void {
  if (value !== undefined && !allowed.includes(String(value))) throw klingError(400, 1201, `${name} is invalid`);
}

function jobOf(call: Call, job: VideoJob): JsonObject {
  const { directives, body, id, createdAt } = job;
  const state = stateOf(call.vendors, job);
  const url = `http://${call.headers.get("host")}/kling/results/${id}.mp4?token=presigned`;
  const duration = String(directives.seconds ?? body.duration ?? "5");
  return {
    task_id: id,
    task_status: state === "running" && directives.unknownStatus !== null ? directives.unknownStatus : STATUSES[state],
    task_status_msg: STATUSES[state] === "failed" ? messageFor(state, job) : "",
    task_info: { external_task_id: body.external_task_id ?? null },
    created_at: createdAt,
    updated_at: call.vendors.clock.now(),
    ...(state === "succeeded" && {
      task_result: { videos: directives.end === "no_result" ? [] : [{ id: `v-${id}`, url, duration }] },
    }),
  };
}

function messageFor(state: VideoJobState, { directives }: VideoJob): string {
  if (state === "expired") return "The task has expired";
  return directives.end === "refusal" ? "Failure to pass the risk control system" : "Service internal error";
}
