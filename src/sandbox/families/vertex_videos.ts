import { Buffer } from "node:buffer";
import { isObject } from "../../conversation/neutral/wire_value.ts";
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
import { errorBody } from "./google/google_error.ts";
import { listIn } from "./google/google_fields.ts";
import { SAMPLE_VIDEO } from "./sample_video.ts";
import { creationResponse, stateOf, type VideoJob, videoJobsByVendors } from "./video_jobs.ts";

const jobsOf = videoJobsByVendors("vertex");

const METHOD =
  /^\/v1\/(projects\/[^/]+\/locations\/[^/]+\/publishers\/google\/models\/([^/:]+)):(predictLongRunning|fetchPredictOperation)$/;
const RATIOS = ["16:9", "9:16"];
const RESOLUTIONS = ["720p", "1080p", "4k"];
const SECONDS = [4, 6, 8];
/** The length of videos with a resolution above 720p, or with reference images. */
const LONG_SECONDS = 8;
const MAX_REFERENCES = 3;

/** Vertex AI: Veo's operations. Source: Vertex AI API reference, "Veo on Vertex AI video generation API". */
export const vertexVideos: VendorApi = {
  prefix: "/vertex",
  async handle(call) {
    const key = call.headers.get("x-goog-api-key");
    if (key === null ? !hasValidBearer(call) : isRejectedKey(key)) {
      throw new SimulatedError(401, "Request had invalid authentication credentials.");
    }
    const [, resource, model = "", method] = METHOD.exec(call.path) ?? [];
    if (resource === undefined || call.method !== "POST") {
      throw new SimulatedError(404, "The requested URL was not found on this server.");
    }
    if (isMissingModel(model)) throw new SimulatedError(404, `Publisher Model ${model} was not found.`);
    const body = bodyOf(call, "Invalid JSON payload received. Expected a JSON object.");
    return method === "predictLongRunning" ? await create(call, resource, body) : fetchOperation(call, body);
  },
  writeError: ({ status, message, details }) => jsonResponse(errorBody(status, message, details), {}, status),
};

async function create(call: Call, resource: string, body: JsonObject): Promise<Response> {
  const { vendors } = call;
  const [instance] = listIn(body.instances);
  if (!isObject(instance)) throw new SimulatedError(400, "Expected one instance.");
  const prompt = String(instance.prompt ?? "");
  const order = { prompt, body, newId: () => `${resource}/operations/${vendors.nextId()}` };
  const parameters = isObject(body.parameters) ? body.parameters : {};
  const job = await jobsOf(vendors).create(call, order, CREATION_ERRORS, () => checkRequest(instance, parameters));
  return creationResponse(job, jsonResponse({ name: job.id }));
}

const CREATION_ERRORS = {
  forbidden: () =>
    new SimulatedError(400, "The prompt could not be submitted. It contains words that violate usage guidelines."),
  failing: (status: number) => new SimulatedError(status, "The service is currently unavailable."),
};

/** Rejects what the vendor rejects at once. */
function checkRequest(instance: JsonObject, parameters: JsonObject): void {
  const { aspectRatio, resolution = "720p", durationSeconds, sampleCount = 1 } = parameters;
  const references = listIn(instance.referenceImages);
  check(aspectRatio === undefined || RATIOS.includes(String(aspectRatio)), "aspectRatio");
  check(RESOLUTIONS.includes(String(resolution)), "resolution");
  check(durationSeconds === undefined || SECONDS.some((each) => each === durationSeconds), "durationSeconds");
  const isLong = durationSeconds === undefined || durationSeconds === LONG_SECONDS;
  check(isLong || (resolution === "720p" && references.length === 0), "durationSeconds");
  check(sampleCount === 1, "sampleCount");
  check(references.length <= MAX_REFERENCES, "referenceImages");
  const images = [instance.image, instance.lastFrame, ...references.map((each) => isObject(each) ? each.image : null)];
  for (const image of images) {
    if (image === undefined) continue;
    check(isObject(image) && typeof image.bytesBase64Encoded === "string" && image.mimeType !== undefined, "image");
  }
}

function check(isValid: boolean, name: string): void {
  if (!isValid) throw new SimulatedError(400, `${name} is not supported.`);
}

function fetchOperation(call: Call, { operationName }: JsonObject): Response {
  const job = jobsOf(call.vendors).get(String(operationName));
  if (!job) throw new SimulatedError(404, "The operation was not found.");
  return jsonResponse({ name: job.id, ...stateIn(call, job) });
}

/** Fields with the value false are left out. */
function stateIn({ vendors }: Call, job: VideoJob): JsonObject {
  switch (stateOf(vendors, job)) {
    case "queued":
    case "running":
      return {};
    case "succeeded":
      return { done: true, response: { ...RESPONSE, videos: job.directives.end === "no_result" ? [] : [VIDEO] } };
    case "failed":
      return job.directives.end === "refusal"
        ? { done: true, response: { ...RESPONSE, ...FILTERED } }
        : { done: true, error: { code: 13, message: "The model failed." } };
    default:
      return { done: true, error: { code: 4, message: "The operation timed out." } };
  }
}

const RESPONSE = { "@type": "type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse" };
const FILTERED = { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ["17301594: Celebrity"], videos: [] };
const VIDEO = { bytesBase64Encoded: Buffer.from(SAMPLE_VIDEO).toString("base64"), mimeType: "video/mp4" };
