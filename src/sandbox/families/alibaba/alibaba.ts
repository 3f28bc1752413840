import { isObject, listOf, parsedOrNull } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
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
import type { SimulatedVendors } from "../../simulated_vendors.ts";
import { makeQwenImage } from "./alibaba_images.ts";
import { completeAtAlibaba } from "../chat_vendors.ts";
import { openai } from "../openai/openai.ts";
import {
  creationResponse,
  stateOf,
  type VideoJob,
  videoJobsByVendors,
  type VideoJobState,
  videoOf,
} from "../video_jobs.ts";

const jobsOf = videoJobsByVendors("alibaba");
const IMAGES = new WeakMap<SimulatedVendors, Map<string, Uint8Array<ArrayBuffer>>>();

const COMPATIBLE = "/compatible-mode/";
const SERVICES = "/api/v1/services/aigc/";
const TASKS = "/api/v1/tasks/";

const WORDS: Readonly<Record<VideoJobState, string>> = {
  queued: "PENDING",
  running: "RUNNING",
  succeeded: "SUCCEEDED",
  failed: "FAILED",
  cancelled: "CANCELED",
  expired: "UNKNOWN",
};

/**
 * Alibaba Cloud Model Studio: Qwen images, Wan videos, and text in OpenAI's format. Source: Model Studio API reference.
 */
export const alibaba: VendorApi = {
  prefix: "/alibaba",
  async handle(call) {
    const { path } = call;
    if (path.startsWith(COMPATIBLE)) return await answerText(call);
    const [, result, ending] = /^\/results\/([\w-]+)\.(mp4|png)$/.exec(path) ?? [];
    // The real vendor pre-signs the address, so it needs no key.
    if (result !== undefined) {
      return ending === "mp4" ? videoOf(call.vendors, jobsOf(call.vendors).get(result)) : picture(call, result);
    }
    if (!hasValidBearer(call)) throw new SimulatedError(401, "Invalid API-key provided.", { code: "InvalidApiKey" });
    if (path.startsWith(TASKS)) return task(call, path.slice(TASKS.length));
    switch (call.method === "POST" && path.startsWith(SERVICES) ? path.slice(SERVICES.length) : "") {
      case "multimodal-generation/generation":
        return await makePicture(call);
      case "video-generation/video-synthesis":
      case "image2video/video-synthesis":
        return await create(call);
    }
    throw new SimulatedError(404, "The requested resource was not found.", { code: "NotFound" });
  },
  writeError(error, call) {
    if (call.path.startsWith(COMPATIBLE)) return openai.writeError(error, asOpenai(call));
    const { status, message, details } = error;
    const code = details.code ?? (status === 429 ? "Throttling" : status >= 500 ? "InternalError" : "InvalidParameter");
    return jsonResponse({ request_id: call.requestId, code, message }, retryAfterHeader(error), status);
  },
};

function answerText(call: Call): MaybePromise<Response> {
  const inner = asOpenai(call);
  const body = parsedOrNull(call.text);
  const isQwen = inner.path === "/v1/chat/completions" && isObject(body) && String(body.model).startsWith("qwen");
  return isQwen ? completeAtAlibaba(inner) : openai.handle(inner);
}

function asOpenai(call: Call): Call {
  return { ...call, path: `/${call.path.slice(COMPATIBLE.length)}` };
}

async function makePicture(call: Call): Promise<Response> {
  const made = await makeQwenImage(call);
  if (made instanceof Response) return made;
  const pictures = IMAGES.get(call.vendors) ?? new Map<string, Uint8Array<ArrayBuffer>>();
  IMAGES.set(call.vendors, pictures);
  const id = call.vendors.nextId();
  pictures.set(id, made.bytes);
  const content = [{ image: addressOf(call, `${id}.png`) }];
  return jsonResponse({
    request_id: call.requestId,
    output: { choices: [{ finish_reason: "stop", message: { role: "assistant", content } }] },
    usage: { image_count: 1, width: made.width, height: made.height },
  });
}

function picture({ vendors }: Call, id: string): Response {
  const bytes = IMAGES.get(vendors)?.get(id);
  if (bytes === undefined) return new Response("Not found", { status: 404 });
  return new Response(bytes, { headers: { "content-type": "image/png" } });
}

async function create(call: Call): Promise<Response> {
  const { vendors } = call;
  if (call.headers.get("x-dashscope-async") !== "enable") {
    throw new SimulatedError(403, "current user api does not support synchronous calls.", { code: "AccessDenied" });
  }
  const body = bodyOf(call, "The request body is not valid JSON.");
  const order = { prompt: promptOf(body), body, newId: () => vendors.nextId() };
  const job = await jobsOf(vendors).create(call, order, CREATION_ERRORS, () => checkTask(body));
  return creationResponse(job, jsonResponse(taskOf(call, job)));
}

const CREATION_ERRORS = {
  forbidden: () =>
    new SimulatedError(400, "Input data may contain inappropriate content.", { code: "DataInspectionFailed" }),
  failing: (status: number) => new SimulatedError(status, "The service is not able to take the request."),
};

/** Rejects what the vendor rejects at once. */
function checkTask({ model, input, parameters }: JsonObject): void {
  if (isMissingModel(String(model))) throw new SimulatedError(404, "Model not exist.", { code: "ModelNotFound" });
  if (!isObject(input) || typeof input.prompt !== "string") throw new SimulatedError(400, "input.prompt is required.");
  const { resolution, size, duration } = isObject(parameters) ? parameters : {};
  if (resolution !== undefined && !/^(480|720|1080)P$/.test(String(resolution))) {
    throw new SimulatedError(400, "parameters.resolution is not supported.");
  }
  if (size !== undefined && !/^\d+\*\d+$/.test(String(size))) {
    throw new SimulatedError(400, "parameters.size is malformed.");
  }
  if (duration !== undefined && !Number.isInteger(duration)) {
    throw new SimulatedError(400, "parameters.duration is no integer.");
  }
  const videos = listOf(input.media).filter((each) =>
    isObject(each) && each.type === "reference_video"
  ) as JsonObject[];
  if (videos.some(({ url }) => !/^https?:/.test(String(url)))) {
    throw new SimulatedError(400, "A video must be an address.");
  }
}

function promptOf({ input }: JsonObject): string {
  return isObject(input) && typeof input.prompt === "string" ? input.prompt : "";
}

function task(call: Call, rest: string): Response {
  const [id = "", verb] = rest.split("/");
  const job = jobsOf(call.vendors).get(decodeURIComponent(id));
  if (job === undefined) {
    return jsonResponse({ request_id: call.requestId, output: { task_id: id, task_status: "UNKNOWN" } });
  }
  if (verb !== "cancel") return jsonResponse(taskOf(call, job));
  if (stateOf(call.vendors, job) !== "queued") {
    throw new SimulatedError(400, "Only a pending task can be cancelled.", { code: "UnsupportedOperation" });
  }
  job.cancelledAt = call.vendors.clock.now();
  return jsonResponse({ request_id: call.requestId });
}

function taskOf(call: Call, job: VideoJob): JsonObject {
  const { directives, body } = job;
  const state = stateOf(call.vendors, job);
  const requestedSeconds = isObject(body.parameters) ? Number(body.parameters.duration ?? 5) : 5;
  const seconds = directives.seconds ?? requestedSeconds;
  return {
    request_id: call.requestId,
    output: {
      task_id: job.id,
      task_status: state === "running" && directives.unknownStatus !== null ? directives.unknownStatus : WORDS[state],
      ...(state === "succeeded" && directives.end !== "no_result"
        ? { video_url: addressOf(call, `${job.id}.mp4`) }
        : {}),
      ...(state === "failed" ? errorOf(job) : {}),
    },
    usage: state === "succeeded" ? { duration: seconds, output_video_duration: seconds, video_count: 1 } : null,
  };
}

function errorOf({ directives }: VideoJob): JsonObject {
  return directives.end === "refusal"
    ? { code: "DataInspectionFailed", message: "Output data may contain inappropriate content." }
    : { code: "InternalError", message: "The service encountered an error." };
}

function addressOf(call: Call, file: string): string {
  return `http://${call.headers.get("host")}/alibaba/results/${file}?Signature=presigned`;
}
