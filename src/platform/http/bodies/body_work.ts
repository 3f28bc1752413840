import { GatewayError } from "../../lib/basics/gateway_error.ts";
import type { JsonObject } from "../../lib/json/json_object.ts";
import { EmbeddedMedia } from "../../lib/media/sent_media.ts";
import { type JobOptions, oneThreadPool, type ThreadWorkOptions, WorkerFailure } from "../../workers/worker_pool.ts";
import type { BodyJob, BodyOutcome, TakenMedia } from "./body_job.ts";

/** A body that a thread read. */
export interface ReadByThread {
  /** Its long media are {@linkcode EmbeddedMedia}. */
  readonly body: JsonObject;
  /** As sent, without a byte order mark. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The number of objects and arrays. */
  readonly containers: number;
  /** SHA-256 in hexadecimal digits; null if it was not asked for. */
  readonly hash: string | null;
}

/** Reads large bodies of JSON in a thread, one at a time. */
export interface BodyWork extends BodyReader {
  /** Ends the thread. */
  close(): void;
}

/** See {@linkcode BodyWork}. */
export interface BodyReader {
  /**
   * Reads a body. Its bytes move, and are empty here afterwards.
   *
   * @throws {GatewayError} What the body is refused with; `overloaded` if too many wait.
   */
  read(job: BodyJob, caller: Pick<JobOptions, "accountId" | "signal">): Promise<ReadByThread>;
}

/** The time limit of one body. One of 50 MB takes some tenths of a second on an idle processor. */
const JOB_MS = 60_000;
/** The memory budget limits the bytes of the bodies that wait. */
const MAX_QUEUED = 256;
/**
 * At most about five times the largest text that there can be. The platform ends the process if one allocation needs
 * more than is left.
 */
const HEAP_MEGABYTES = 4_096;
const RETRY_AFTER_SECONDS = 5;

/** Creates the work, whose thread starts with the first large body. */
export function createBodyWork(options: ThreadWorkOptions): BodyWork {
  const pool = oneThreadPool({
    kind: "bodies",
    module: "platform/http/bodies/body_entry",
    heapMegabytes: HEAP_MEGABYTES,
    maxQueued: MAX_QUEUED,
    jobMs: JOB_MS,
  }, options);
  return {
    async read(job, caller) {
      const outcome = await outcomeOf(pool.run(job, caller, [job.buffer]));
      if ("refused" in outcome) {
        const { code, message, details } = outcome.refused;
        throw new GatewayError(code, message, details);
      }
      const { body, media, buffer, start, containers, hash } = outcome;
      for (const each of media) putBack(body, each);
      return { body, bytes: new Uint8Array(buffer, start), containers, hash };
    },
    close: () => pool.close(),
  };
}

async function outcomeOf(running: Promise<unknown>): Promise<BodyOutcome> {
  try {
    return await running as BodyOutcome;
  } catch (error) {
    throw error instanceof WorkerFailure ? refusalOf(error) : error;
  }
}

/** Puts media where its text was. */
function putBack(body: JsonObject, { path, bytes, isBase64, characters }: TakenMedia): void {
  let parent: object = body;
  for (const name of path.slice(0, -1)) {
    const child: unknown = Reflect.get(parent, name);
    if (typeof child !== "object" || child === null) return;
    parent = child;
  }
  const content = bytes === null ? null : new Uint8Array(bytes);
  Reflect.set(parent, path.at(-1) ?? "", new EmbeddedMedia(content, isBase64, characters));
}

function refusalOf(failure: WorkerFailure): GatewayError {
  if (failure.kind === "busy") {
    const message = "Too many large requests are queued; retry in a few seconds";
    return new GatewayError("overloaded", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
  if (failure.kind === "cancelled") return new GatewayError("route_error", "The caller disconnected");
  return new GatewayError("internal_error", "Cannot read the body: the job failed", { cause: failure });
}
