import { sleep } from "../../lib/clock.ts";
import type { JsonObject } from "../../lib/json_object.ts";
import type { Call } from "../call.ts";
import type { Refusal } from "../refusal.ts";
import type { SimulatedVendors } from "../simulated_vendors.ts";
import { SAMPLE_FRAME, SAMPLE_VIDEO } from "./sample_video.ts";
import { readVideoDirectives, type VideoDirectives } from "./video_directives.ts";

/** A job of a simulated vendor of videos; how it stands follows from the clock. */
export interface VideoJob {
  /** The vendor's name of it. */
  readonly id: string;
  /** The request that made it. */
  readonly body: JsonObject;
  /** What its prompt orders. */
  readonly directives: VideoDirectives;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds; null while nobody has cancelled it. */
  cancelledAt: number | null;
}

/** How a job stands, before a vendor puts it into its own word. */
export type VideoJobState = "queued" | "running" | "succeeded" | "failed" | "cancelled" | "expired";

/** What a simulated vendor says when a prompt orders its creation to be refused. */
export interface CreationRefusals {
  /** Its content rules forbid the prompt; null where it takes every prompt, and the job then fails at once. */
  readonly forbidden: (() => Refusal) | null;
  /** It is not able to take the request; `status` is 429 or a 5xx. */
  readonly failing: (status: number) => Refusal;
}

/** The jobs of one simulated vendor, oldest first, and how often each prompt's creation failed as ordered. */
export class VideoJobs {
  readonly #jobs = new Map<string, VideoJob>();
  readonly #failures = new Map<string, number>();

  /** The job of that name; undefined when there is none. */
  get(id: string): VideoJob | undefined {
    return this.#jobs.get(id);
  }

  /** All jobs. */
  newestFirst(): VideoJob[] {
    return [...this.#jobs.values()].reverse();
  }

  /** Forgets a job. */
  delete(id: string): void {
    this.#jobs.delete(id);
  }

  /**
   * Makes a job, unless its prompt orders otherwise.
   *
   * @param newId Gives the job's name.
   * @param check Throws what is wrong with the request itself, before its prompt is obeyed.
   * @throws {Refusal} As the prompt orders.
   */
  async create(
    { world }: Call,
    order: { readonly prompt: string; readonly body: JsonObject; readonly newId: () => string },
    refusals: CreationRefusals,
    check: () => void = () => {},
  ): Promise<VideoJob> {
    const directives = readVideoDirectives(order.prompt);
    if (directives.stallMs > 0) await sleep(world.clock, directives.stallMs);
    check();
    if (directives.rejects && refusals.forbidden) throw refusals.forbidden();
    if (directives.fail && this.#countFailure(order.prompt) <= directives.fail.times) {
      throw refusals.failing(directives.fail.status);
    }
    const createdAt = world.clock.now();
    const obeyed = directives.rejects ? { ...directives, ...FORBIDDEN } : directives;
    const job = { id: order.newId(), body: order.body, directives: obeyed, createdAt, cancelledAt: null };
    this.#jobs.set(job.id, job);
    return job;
  }

  #countFailure(prompt: string): number {
    const times = (this.#failures.get(prompt) ?? 0) + 1;
    this.#failures.set(prompt, times);
    return times;
  }
}

const FORBIDDEN: Partial<VideoDirectives> = { queueMs: 0, runMs: 0, end: "refusal" };

/** Gives each sandbox jobs of its own: what one sandbox made, another does not know. */
export function videoJobsByVendors(): (world: SimulatedVendors) => VideoJobs {
  const all = new WeakMap<SimulatedVendors, VideoJobs>();
  return (world) => {
    const jobs = all.get(world) ?? new VideoJobs();
    all.set(world, jobs);
    return jobs;
  };
}

/** How a job stands now. */
export function stateOf({ clock }: SimulatedVendors, { createdAt, cancelledAt, directives }: VideoJob): VideoJobState {
  if (cancelledAt !== null) return "cancelled";
  const age = clock.now() - createdAt;
  if (age < directives.queueMs) return "queued";
  if (age < directives.queueMs + directives.runMs || directives.end === "never") return "running";
  if (directives.end === "expiry") return "expired";
  return directives.end === "refusal" || directives.end === "failure" ? "failed" : "succeeded";
}

/** How far a running job has come, from 0 to 1. */
export function shareDone({ clock }: SimulatedVendors, { createdAt, directives }: VideoJob): number {
  const ran = clock.now() - createdAt - directives.queueMs;
  return Math.min(Math.max(ran / Math.max(directives.runMs, 1), 0), 1);
}

/** The video of a job that succeeded; 404 for every other, and for a job whose prompt orders that. */
export function videoOf(world: SimulatedVendors, job: VideoJob | undefined): Response {
  return resultOf(world, job, SAMPLE_VIDEO, "video/mp4");
}

/** The last picture of such a video. */
export function lastFrameOf(world: SimulatedVendors, job: VideoJob | undefined): Response {
  return resultOf(world, job, SAMPLE_FRAME, "image/png");
}

function resultOf(
  world: SimulatedVendors,
  job: VideoJob | undefined,
  bytes: Uint8Array<ArrayBuffer>,
  mediaType: string,
) {
  if (!job || job.directives.missing || stateOf(world, job) !== "succeeded") {
    return new Response("Not found", { status: 404 });
  }
  const headers = { "content-type": mediaType, "content-length": String(bytes.length) };
  return new Response(job.directives.slowMs > 0 ? slowly(world, bytes, job.directives.slowMs) : bytes, { headers });
}

const PIECES = 8;

/** The bytes in pieces, the last of which comes after `slowMs`. */
function slowly(
  { clock }: SimulatedVendors,
  bytes: Uint8Array<ArrayBuffer>,
  slowMs: number,
): ReadableStream<Uint8Array> {
  const pieceBytes = Math.ceil(bytes.length / PIECES);
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await sleep(clock, slowMs / PIECES);
      controller.enqueue(bytes.slice(at, at += pieceBytes));
      if (at >= bytes.length) controller.close();
    },
  }, { highWaterMark: 0 });
}

/** The answer to a creation: the given one, or the head of one whose body never comes where the prompt orders that. */
export function creationAnswer({ directives }: VideoJob, answer: Response): Response {
  if (!directives.cuts) return answer;
  const body = new ReadableStream({
    pull(controller) {
      controller.error(new Error("cut as ordered"));
    },
  });
  return new Response(body, { status: answer.status, headers: { "content-type": "application/json" } });
}
