import { sleep } from "../../lib/clock.ts";
import type { JsonObject } from "../../lib/json_object.ts";
import { bodyOf, type Call, type Family, isBadKey, isMissingModel, jsonAnswer } from "../call.ts";
import { Refusal } from "../refusal.ts";
import type { World } from "../world.ts";
import { promptOf, refuseBadTask } from "./ark_video_rules.ts";
import { SAMPLE_VIDEO } from "./sample_video.ts";
import { readVideoDirectives, type VideoDirectives } from "./video_directives.ts";

/** A job of the simulated vendor; how it stands follows from the clock. */
interface VideoJob {
  readonly id: string;
  readonly body: JsonObject;
  readonly directives: VideoDirectives;
  /** Unix milliseconds. */
  readonly createdAt: number;
  cancelledAt: number | null;
}

/** Each sandbox's jobs, oldest first. */
const JOBS = new WeakMap<World, Map<string, VideoJob>>();
/** How often a prompt was refused, for directives that count. */
const FAILURES = new WeakMap<World, Map<string, number>>();

const TASKS = "/generations/tasks";

/** Seedance on Ark: create, query, list, cancel. Source: Ark API reference, "Video generation API". */
export const arkVideos: Family = {
  prefix: "/ark/api/v3/contents",
  async answer(call) {
    const result = /^\/results\/([\w-]+)\.mp4$/.exec(call.path);
    if (result) return resultOf(call, result[1]); // pre-signed at the real vendor: no key
    const key = /^Bearer +(\S+)$/i.exec(call.headers.get("authorization") ?? "")?.[1];
    if (key === undefined || isBadKey(key)) {
      throw new Refusal(401, "The API key is missing or invalid.", { code: "AuthenticationError" });
    }
    if (call.path === TASKS) return call.method === "POST" ? await create(call) : list(call);
    const id = call.path.startsWith(`${TASKS}/`) ? call.path.slice(TASKS.length + 1) : "";
    const job = jobsOf(call.world).get(decodeURIComponent(id));
    if (!job) throw new Refusal(404, "The specified task is not found.", { code: "ResourceNotFound" });
    return call.method === "DELETE" ? cancel(call, job) : jsonAnswer(taskOf(call, job));
  },
  refuse(refusal, call) {
    const error = {
      code: refusal.details.code ?? "InvalidParameter",
      message: refusal.message,
      type: "BadRequest",
      param: "",
    };
    return jsonAnswer({ error }, { "x-request-id": call.requestId }, refusal.status);
  },
};

async function create(call: Call): Promise<Response> {
  const { world } = call;
  const body = bodyOf(call, "The request body is not valid JSON.");
  const prompt = promptOf(body);
  const directives = readVideoDirectives(prompt);
  if (directives.stallMs > 0) await sleep(world.clock, directives.stallMs);
  if (isMissingModel(String(body.model))) {
    throw new Refusal(404, "The model does not exist.", { code: "ModelNotFound" });
  }
  refuseBadTask(body);
  if (directives.rejects) {
    throw new Refusal(400, "The text may contain sensitive information.", {
      code: "InputTextSensitiveContentDetected",
    });
  }
  refuseAsOrdered(world, prompt, directives);
  const id = `cgt-${world.nextId()}`;
  jobsOf(world).set(id, { id, body, directives, createdAt: world.clock.now(), cancelledAt: null });
  return directives.cuts ? brokenOff() : jsonAnswer({ id });
}

function refuseAsOrdered(world: World, prompt: string, { fail }: VideoDirectives): void {
  if (!fail) return;
  const failures = FAILURES.get(world) ?? new Map<string, number>();
  FAILURES.set(world, failures);
  const times = (failures.get(prompt) ?? 0) + 1;
  failures.set(prompt, times);
  if (times > fail.times) return;
  const code = fail.status === 429 ? "RateLimitExceeded.EndpointRPMExceeded" : "InternalServiceError";
  throw new Refusal(fail.status, "The service is not able to take the request.", { code });
}

/** The head of an answer whose body never comes whole. */
function brokenOff(): Response {
  const body = new ReadableStream({
    pull(controller) {
      controller.error(new Error("cut as ordered"));
    },
  });
  return new Response(body, { headers: { "content-type": "application/json" } });
}

function list(call: Call): Response {
  const size = Math.min(Number(call.query.get("page_size")) || 10, 500);
  const page = Number(call.query.get("page_num")) || 1;
  const newestFirst = [...jobsOf(call.world).values()].reverse();
  const items = newestFirst.slice((page - 1) * size, page * size).map((job) => taskOf(call, job));
  return jsonAnswer({ items, total: newestFirst.length });
}

function cancel(call: Call, job: VideoJob): Response {
  switch (stateOf(call.world, job)) {
    case "queued":
      job.cancelledAt = call.world.clock.now();
      return jsonAnswer({});
    case "running":
      throw new Refusal(400, "A running task cannot be deleted.", { code: "InvalidAction.RunningTaskDeletion" });
    default:
      jobsOf(call.world).delete(job.id);
      return jsonAnswer({});
  }
}

type State = "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired";

function stateOf({ clock }: World, { createdAt, cancelledAt, directives }: VideoJob): State {
  if (cancelledAt !== null) return "cancelled";
  const age = clock.now() - createdAt;
  if (age < directives.queueMs) return "queued";
  if (age < directives.queueMs + directives.runMs || directives.end === "never") return "running";
  if (directives.end === "expiry") return "expired";
  return directives.end === "refusal" || directives.end === "failure" ? "failed" : "succeeded";
}

function taskOf(call: Call, job: VideoJob): JsonObject {
  const state = stateOf(call.world, job);
  const { directives, body } = job;
  const url = `http://${call.headers.get("host")}/ark/api/v3/contents/results/${job.id}.mp4?token=presigned`;
  const seconds = directives.seconds ?? Number(body.duration ?? 5);
  return {
    id: job.id,
    model: body.model,
    status: state === "running" && directives.word !== null ? directives.word : state,
    created_at: Math.floor(job.createdAt / 1000),
    updated_at: Math.floor(call.world.clock.now() / 1000),
    safety_identifier: body.safety_identifier,
    error: state === "failed" ? errorOf(directives) : null,
    ...(state === "succeeded"
      ? {
        content: directives.end === "no_result" ? {} : { video_url: url },
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

function resultOf(call: Call, id: string): Response {
  const job = jobsOf(call.world).get(id);
  if (!job || job.directives.missing || stateOf(call.world, job) !== "succeeded") {
    return new Response("Not found", { status: 404 });
  }
  return new Response(SAMPLE_VIDEO, { headers: { "content-type": "video/mp4" } });
}

function jobsOf(world: World): Map<string, VideoJob> {
  const jobs = JOBS.get(world) ?? new Map<string, VideoJob>();
  JOBS.set(world, jobs);
  return jobs;
}
