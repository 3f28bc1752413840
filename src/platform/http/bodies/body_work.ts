import { GatewayError } from "../../lib/basics/gateway_error.ts";
import { oneThreadPool, type ThreadWorkOptions, WorkerFailure } from "../../workers/worker_pool.ts";
import { type BodyOutcome, type BodyReader, bodyReaderBy, type BodyRunner } from "./body_reader.ts";

/** Reads large bodies of JSON in a thread, one at a time. */
export interface BodyWork extends BodyReader {
  /** Runs a job that another thread sent. */
  readonly run: BodyRunner;
  /** Ends the thread. */
  close(): void;
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
  const run: BodyRunner = async (job, caller) => {
    try {
      return await pool.run(job, caller, [job.buffer]) as BodyOutcome;
    } catch (error) {
      throw error instanceof WorkerFailure ? refusalOf(error) : error;
    }
  };
  return { ...bodyReaderBy(run), run, close: () => pool.close() };
}

function refusalOf(failure: WorkerFailure): GatewayError {
  if (failure.kind === "busy") {
    const message = "Too many large requests are queued; retry in a few seconds";
    return new GatewayError("overloaded", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
  if (failure.kind === "cancelled") return new GatewayError("route_error", "The caller disconnected");
  return new GatewayError("internal_error", "Cannot read the body: the job failed", { cause: failure });
}
