import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { bodyOf, type Call, hasValidBearer, isMissingModel, jsonResponse, type VendorApi } from "../../call.ts";
import { SimulatedError } from "../../simulated_error.ts";
import { checkTask, promptOf } from "./ark_video_rules.ts";
import type { VideoDirectives } from "../video_directives.ts";
import { creationResponse, lastFrameOf, stateOf, type VideoJob, videoJobsByVendors, videoOf } from "../video_jobs.ts";

/** The vendor's default length. */
const OWN_SECONDS = 5;

const jobsOf = videoJobsByVendors("ark");

const TASKS = "/generations/tasks";

/** Seedance on Ark: create, query, list, cancel. Source: Ark API reference, "Video generation API". */
export const arkVideos: VendorApi = {
  prefix: "/ark/api/v3/contents",
  async handle(call) {
    const [, result, ending] = /^\/results\/([\w-]+)\.(mp4|png)$/.exec(call.path) ?? [];
    // The real vendor pre-signs the address, so it needs no key.
    if (result !== undefined) {
      return (ending === "png" ? lastFrameOf : videoOf)(call.vendors, jobsOf(call.vendors).get(result));
    }
    if (!hasValidBearer(call)) {
      throw new SimulatedError(401, "The API key is missing or invalid.", { code: "AuthenticationError" });
    }
    if (call.path === TASKS) return call.method === "POST" ? await create(call) : list(call);
    const id = call.path.startsWith(`${TASKS}/`) ? call.path.slice(TASKS.length + 1) : "";
    const job = jobsOf(call.vendors).get(decodeURIComponent(id));
    if (!job) throw new SimulatedError(404, "The specified task is not found.", { code: "ResourceNotFound" });
    return call.method === "DELETE" ? cancel(call, job) : jsonResponse(taskOf(call, job));
  },
  writeError(failure, call) {
    const error = {
      code: failure.details.code ?? "InvalidParameter",
      message: failure.message,
      type: "BadRequest",
      param: "",
    };
    return jsonResponse({ error }, { "x-request-id": call.requestId }, failure.status);
  },
};

async function create(call: Call): Promise<Response> {
  const { vendors } = call;
  const body = bodyOf(call, "The request body is not valid JSON.");
  const order = { prompt: promptOf(body), body, newId: () => `cgt-${vendors.nextId()}` };
  const job = await jobsOf(vendors).create(call, order, CREATION_ERRORS, () => {
    if (isMissingModel(String(body.model))) {
      throw new SimulatedError(404, "The model does not exist.", { code: "ModelNotFound" });
    }
    checkTask(body);
  });
  return creationResponse(job, jsonResponse({ id: job.id }));
}

const CREATION_ERRORS = {
  forbidden: () =>
    new SimulatedError(400, "The text may contain sensitive information.", {
      code: "InputTextSensitiveContentDetected",
    }),
  failing(status: number) {
    const code = status === 429 ? "RateLimitExceeded.EndpointRPMExceeded" : "InternalServiceError";
    return new SimulatedError(status, "The service is not able to take the request.", { code });
  },
};

function list(call: Call): Response {
  const size = Math.min(Number(call.query.get("page_size")) || 10, 500);
  const page = Number(call.query.get("page_num")) || 1;
  const ids = new Set(call.query.getAll("filter.task_ids"));
  const listed = jobsOf(call.vendors).newestFirst().filter(({ id }) => ids.size === 0 || ids.has(id));
  const items = listed.slice((page - 1) * size, page * size).map((job) => taskOf(call, job));
  return jsonResponse({ items, total: listed.length });
}

function cancel(call: Call, job: VideoJob): Response {
  switch (stateOf(call.vendors, job)) {
    case "queued":
      job.cancelledAt = call.vendors.clock.now();
      return jsonResponse({});
    case "running":
      throw new SimulatedError(400, "A running task cannot be deleted.", { code: "InvalidAction.RunningTaskDeletion" });
    default:
      jobsOf(call.vendors).delete(job.id);
      return jsonResponse({});
  }
}

function taskOf(call: Call, job: VideoJob): JsonObject {
  const state = stateOf(call.vendors, job);
  const { directives, body } = job;
  const addressOf = (ending: string) =>
    `http://${call.headers.get("host")}/ark/api/v3/contents/results/${job.id}.${ending}?token=presigned`;
  const requestedSeconds = Number(body.duration ?? OWN_SECONDS);
  const seconds = directives.seconds ?? (requestedSeconds === -1 ? OWN_SECONDS : requestedSeconds);
  const lastFrame = body.return_last_frame === true ? { last_frame_url: addressOf("png") } : {};
  return {
    id: job.id,
    model: body.model,
    status: state === "running" && directives.unknownStatus !== null ? directives.unknownStatus : state,
    created_at: Math.floor(job.createdAt / 1000),
    updated_at: Math.floor(call.vendors.clock.now() / 1000),
    safety_identifier: body.safety_identifier,
    error: state === "failed" ? errorOf(directives) : null,
    ...(state === "succeeded"
      ? {
        content: directives.end === "no_result" ? {} : { video_url: addressOf("mp4"), ...lastFrame },
        usage: { completion_tokens: 1_000 * seconds, total_tokens: 1_000 * seconds },
        duration: seconds,
        resolution: body.resolution ?? "720p",
      }
      : {}),
  };
}

function errorOf({ end }: VideoDirectives): JsonObject {
  return end === "refusal"
    ? { code: "OutputVideoSensitiveContentDetected", message: "The video may contain sensitive information." }
    : { code: "InternalServiceError", message: "The service encountered an error." };
}
