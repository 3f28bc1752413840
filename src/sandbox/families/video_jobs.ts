import { isObject } from "../../conversation/neutral/wire_value.ts";
import { type Clock, sleep } from "../../platform/lib/basics/clock.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { outputStream } from "../../platform/lib/streams/output_stream.ts";
import type { Call } from "../call.ts";
import type { SimulatedError } from "../simulated_error.ts";
import type { SimulatedVendors } from "../simulated_vendors.ts";
import { KeptJobs } from "./kept_jobs.ts";
import { SAMPLE_FRAME, SAMPLE_VIDEO } from "./sample_video.ts";
import { readVideoDirectives, type VideoDirectives } from "./video_directives.ts";

/** A job of a simulated video vendor. Its state is computed from the clock. */
export interface VideoJob {
  /** The vendor's id. */
  readonly id: string;
  /** The request that created it. */
  readonly body: JsonObject;
  /** The directives of its prompt. */
  readonly directives: VideoDirectives;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds, or null if it was not cancelled. */
  cancelledAt: number | null;
}

/** The state of a job, before a vendor translates it to its own status. */
export type VideoJobState = "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired";

/** The errors of a simulated vendor for a creation that a prompt orders to fail. */
export interface CreationErrors {
  /** The error if its content rules forbid the prompt. Null if it accepts every prompt; the job then fails at once. */
  readonly forbidden: (() => SimulatedError) | null;
  /** The error if it cannot process the request. `status` is 429 or a 5xx. */
  readonly failing: (status: number) => SimulatedError;
}

/** The jobs of one simulated vendor, oldest first, and the number of ordered failures per prompt. */
export class VideoJobs {
  readonly #jobs: Map<string, VideoJob>;
  readonly #failures = new Map<string, number>();

  /** @param kept Null if the jobs end with the sandbox. */
  constructor(private readonly clock: Clock, private readonly kept: KeptJobs<VideoJob> | null) {
    this.#jobs = new Map(kept?.earlier.map((job) => [job.id, job]));
  }

  /** Returns the job with that id, or undefined if there is none, or none at present. */
  get(id: string): VideoJob | undefined {
    const job = this.#jobs.get(id);
    return job !== undefined && this.#has(job) ? job : undefined;
  }

  /** Returns all jobs that it has at present. */
  newestFirst(): VideoJob[] {
    return [...this.#jobs.values()].filter((job) => this.#has(job)).reverse();
  }

  /** Deletes a job. */
  delete(id: string): void {
    this.#jobs.delete(id);
  }

  /**
   * Creates a job, unless its prompt orders a failure.
   *
   * @param newId Returns the job's id.
   * @param check Throws if the request itself is invalid. Called before the directives are followed.
   * @throws {SimulatedError} As the prompt orders.
   */
  async create(
    { vendors }: Call,
    order: { readonly prompt: string; readonly body: JsonObject; readonly newId: () => string },
    refusals: CreationErrors,
    check: () => void = () => {},
  ): Promise<VideoJob> {
    const directives = readVideoDirectives(order.prompt);
    if (directives.stallMs > 0) await sleep(vendors.clock, directives.stallMs);
    check();
    if (directives.rejects && refusals.forbidden) throw refusals.forbidden();
    if (directives.fail && this.#countFailure(order.prompt) <= directives.fail.times) {
      throw refusals.failing(directives.fail.status);
    }
    const createdAt = vendors.clock.now();
    const obeyed = directives.rejects ? { ...directives, ...FORBIDDEN } : directives;
    const job = { id: order.newId(), body: order.body, directives: obeyed, createdAt, cancelledAt: null };
    this.#jobs.set(job.id, job);
    this.kept?.add(job);
    return job;
  }

  #has({ createdAt, directives: { lost } }: VideoJob): boolean {
    const age = this.clock.now() - createdAt;
    return !lost || age < lost.fromMs || age >= lost.untilMs;
  }

  #countFailure(prompt: string): number {
    const times = (this.#failures.get(prompt) ?? 0) + 1;
    this.#failures.set(prompt, times);
    return times;
  }
}

const FORBIDDEN: Partial<VideoDirectives> = { queueMs: 0, runMs: 0, end: "refusal" };

/**
 * Returns a function that returns the jobs of each sandbox. Sandboxes share no jobs, unless an earlier one kept them.
 *
 * @param vendor The name of their file.
 */
export function videoJobsByVendors(vendor: string): (vendors: SimulatedVendors) => VideoJobs {
  const all = new WeakMap<SimulatedVendors, VideoJobs>();
  return (vendors) => {
    const jobs = all.get(vendors) ?? new VideoJobs(vendors.clock, keptJobsOf(vendor, vendors));
    all.set(vendors, jobs);
    return jobs;
  };
}

function keptJobsOf(vendor: string, { clock, jobsFolder }: SimulatedVendors): KeptJobs<VideoJob> | null {
  if (jobsFolder === null) return null;
  return new KeptJobs(`${jobsFolder}/${vendor}.jsonl`, { now: clock.now(), isJob });
}

function isJob(value: unknown): value is VideoJob {
  return isObject(value) && typeof value.id === "string" && typeof value.createdAt === "number" &&
    isObject(value.body) && isObject(value.directives) && value.cancelledAt === null;
}

/** Returns the current state of a job. */
export function stateOf({ clock }: SimulatedVendors, { createdAt, cancelledAt, directives }: VideoJob): VideoJobState {
  if (cancelledAt !== null) return "cancelled";
  const age = clock.now() - createdAt;
  if (age < directives.queueMs) return "queued";
  if (age < directives.queueMs + directives.runMs || directives.end === "never") return "running";
  if (directives.end === "expiry") return "expired";
  return directives.end === "refusal" || directives.end === "failure" ? "failed" : "succeeded";
}

/** Returns the progress of a running job, from 0 to 1. */
export function progressOf({ clock }: SimulatedVendors, { createdAt, directives }: VideoJob): number {
  const ran = clock.now() - createdAt - directives.queueMs;
  return Math.min(Math.max(ran / Math.max(directives.runMs, 1), 0), 1);
}

/**
 * Returns the file at the signed address of a result, which needs no key. Null for any other path.
 *
 * @param endings The endings of such addresses: that of the video first, then that of the last frame if there is one.
 */
export function resultFileOf(
  { path, vendors }: Pick<Call, "path" | "vendors">,
  jobs: VideoJobs,
  endings: readonly string[] = ["mp4"],
): Response | null {
  const [, id = "", ending = ""] = /^\/results\/([\w-]+)\.(\w+)$/.exec(path) ?? [];
  if (!endings.includes(ending)) return null;
  return ending === endings[0] ? videoOf(vendors, jobs.get(id)) : lastFrameOf(vendors, jobs.get(id));
}

/** Returns the video of a job that succeeded. Any other job, and a job whose prompt requests it, gives 404. */
export function videoOf(vendors: SimulatedVendors, job: VideoJob | undefined): Response {
  return resultOf(vendors, job, SAMPLE_VIDEO, "video/mp4");
}

/** Returns the last frame of such a video. */
export function lastFrameOf(vendors: SimulatedVendors, job: VideoJob | undefined): Response {
  return resultOf(vendors, job, SAMPLE_FRAME, "image/png");
}

function resultOf(
  vendors: SimulatedVendors,
  job: VideoJob | undefined,
  bytes: Uint8Array<ArrayBuffer>,
  mediaType: string,
) {
  if (!job || job.directives.missing || stateOf(vendors, job) !== "succeeded") {
    return new Response("Not found", { status: 404 });
  }
  const headers = { "content-type": mediaType, "content-length": String(bytes.length) };
  return new Response(job.directives.slowMs > 0 ? slowly(vendors, bytes, job.directives.slowMs) : bytes, { headers });
}

const PIECES = 8;

/** Returns the bytes in pieces. The last piece is sent after `slowMs`. */
function slowly(
  { clock }: SimulatedVendors,
  bytes: Uint8Array<ArrayBuffer>,
  slowMs: number,
): ReadableStream<Uint8Array> {
  const pieceBytes = Math.ceil(bytes.length / PIECES);
  let at = 0;
  return outputStream({
    async pull(output) {
      await sleep(clock, slowMs / PIECES);
      output.enqueue(bytes.slice(at, at += pieceBytes));
      if (at >= bytes.length) output.close();
    },
  }, { highWaterMark: 0 });
}

/** Returns the response to a creation. If the prompt orders it, only the head is sent and the body never arrives. */
export function creationResponse({ directives }: VideoJob, answer: Response): Response {
  if (!directives.cuts) return answer;
  const body = outputStream<Uint8Array>({
    pull(output) {
      output.error(new Error("cut as ordered"));
    },
  });
  return new Response(body, { status: answer.status, headers: { "content-type": "application/json" } });
}
