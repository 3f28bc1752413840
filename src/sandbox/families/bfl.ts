import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import {
  bodyOf,
  type Call,
  isMissingModel,
  isRejectedKey,
  jsonResponse,
  retryAfterHeader,
  type VendorApi,
} from "../call.ts";
import { readInlineImage } from "../pictures/data_uri.ts";
import type { DecodedImage } from "../pictures/file.ts";
import { SimulatedError } from "../simulated_error.ts";
import { type ImageJobShape, simulatedImageOf } from "./picture_jobs.ts";
import { creationResponse, progressOf, stateOf, type VideoJob, videoJobsByVendors } from "./video_jobs.ts";

const jobsOf = videoJobsByVendors("bfl");

const FIELDS =
  /^(prompt|seed|width|height|aspect_ratio|output_format|safety_tolerance|(input_image|image_prompt)(_[2-8])?)$/;
const MAX_PIXELS = 4 * 1_048_576;
const DEFAULT_SIDE = 1_024;
const GRAIN = 16;

/** FLUX at Black Forest Labs: each picture is a job. Source: BFL API reference, "Image generation", "Get result". */
export const bfl: VendorApi = {
  prefix: "/bfl",
  async handle(call) {
    const sample = /^\/results\/([\w-]+)$/.exec(call.path)?.[1];
    // The real vendor pre-signs the address, so it needs no key.
    if (sample !== undefined) return await simulatedImageOf(call, jobsOf(call.vendors).get(sample), 0, shapeOf);
    const key = call.headers.get("x-key") ?? "";
    if (key === "" || isRejectedKey(key)) throw new SimulatedError(403, "Not authenticated - Invalid Authentication");
    const { method, path } = call;
    if (method === "GET" && path === "/v1/credits") return jsonResponse({ credits: 1_000 });
    if (method === "GET" && path === "/v1/get_result") return poll(call);
    const model = /^\/v1\/([\w.-]+)$/.exec(path)?.[1];
    if (method === "POST" && model !== undefined && !isMissingModel(model)) return await create(call);
    throw new SimulatedError(404, "Not Found");
  },
  writeError: (error) => jsonResponse({ detail: error.message }, retryAfterHeader(error), error.status),
};

async function create(call: Call): Promise<Response> {
  const body = bodyOf(call, "The body is not valid JSON.");
  const unknown = Object.keys(body).find((name) => !FIELDS.test(name));
  if (unknown !== undefined) throw new SimulatedError(422, `Extra inputs are not permitted: ${unknown}`);
  if (typeof body.prompt !== "string" || body.prompt === "") throw new SimulatedError(422, "Field required: prompt");
  await shapeOf(body);
  const job = await jobsOf(call.vendors).create(
    call,
    { prompt: body.prompt, body, newId: () => call.vendors.nextId() },
    {
      forbidden: () => new SimulatedError(422, "Request Moderated"),
      failing: (status) => new SimulatedError(status, "The service is not able to take the request."),
    },
  );
  const host = `http://${call.headers.get("host")}`;
  const answer = { id: job.id, polling_url: `${host}/bfl/v1/get_result?id=${job.id}`, cost: null, input_mp: null };
  return creationResponse(job, jsonResponse(answer));
}

function poll(call: Call): Response {
  const job = jobsOf(call.vendors).get(call.query.get("id") ?? "");
  if (job === undefined) return jsonResponse({ id: call.query.get("id"), status: "Task not found" }, {}, 404);
  const [status, details] = statusOf(call, job);
  const sample = `http://${call.headers.get("host")}/bfl/results/${job.id}`;
  const isReady = status === "Ready";
  return jsonResponse({
    id: job.id,
    status,
    result: isReady && job.directives.end !== "no_result" ? { sample, prompt: job.body.prompt, seed: 1 } : null,
    progress: isReady ? null : progressOf(call.vendors, job),
    details,
  });
}

function statusOf(call: Call, job: VideoJob): [status: string, details: JsonObject | null] {
  switch (stateOf(call.vendors, job)) {
    case "queued":
      return ["Pending", null];
    case "running":
      return [job.directives.unknownStatus ?? "Generating", null];
    case "succeeded":
      return ["Ready", null];
    default:
      return job.directives.end === "refusal"
        ? ["Content Moderated", { "Moderation Reasons": ["Safety Filter"] }]
        : ["Error", null];
  }
}

/** Throws {@linkcode SimulatedError} for what the vendor rejects. */
async function shapeOf(body: JsonObject): Promise<ImageJobShape> {
  const names = Object.keys(body).filter((name) => /^(input_image|image_prompt)/.test(name));
  const references = await Promise.all(names.map((name) => referenceIn(body[name], name)));
  const [first] = references;
  const { width = first?.width ?? DEFAULT_SIDE, height = first?.height ?? DEFAULT_SIDE } = body;
  if (body.width !== undefined || body.height !== undefined) {
    const isSide = (side: unknown) => Number.isInteger(side) && Number(side) >= 64 && Number(side) % GRAIN === 0;
    if (!isSide(width) || !isSide(height)) throw new SimulatedError(422, "width and height must be multiples of 16");
  }
  if (Number(width) * Number(height) > MAX_PIXELS) {
    throw new SimulatedError(422, "The image is larger than 4 megapixels");
  }
  const format = body.output_format ?? "jpeg";
  if (format !== "jpeg" && format !== "png") throw new SimulatedError(422, "Input should be 'jpeg' or 'png'");
  const [, across, down] = /^(\d+):(\d+)$/.exec(String(body.aspect_ratio ?? "")) ?? [];
  const ratio = across === undefined ? null : Number(across) / Number(down);
  return {
    width: ratio === null ? Number(width) : sideOf(ratio),
    height: ratio === null ? Number(height) : sideOf(1 / ratio),
    format,
    references,
  };
}

function sideOf(ratio: number): number {
  return Math.round(DEFAULT_SIDE * Math.sqrt(ratio) / GRAIN) * GRAIN;
}

async function referenceIn(value: unknown, name: string): Promise<DecodedImage> {
  const picture = await readInlineImage(value);
  if (picture === null) throw new SimulatedError(422, `${name} is no image`);
  return picture;
}
