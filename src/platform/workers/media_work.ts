import { GatewayError } from "../lib/basics/gateway_error.ts";
import { ownBufferOf } from "../lib/bytes/own_buffer.ts";
import { threadModule } from "../lib/process/program_files.ts";
import type { MediaJob } from "./media_job.ts";
import type { ImageProblem } from "./picture_problem.ts";
import type { ReencodeOptions } from "./picture_jobs.ts";
import { type ThreadWorkOptions, WorkerFailure, WorkerPool } from "./worker_pool.ts";
import { THREAD_IDLE_MS, threadStarter } from "./worker_thread.ts";

/** A picture and the result of its check. */
export interface CheckedImage {
  /** The bytes of the picture in a new buffer. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Null if the picture can be decoded. */
  readonly problem: ImageProblem | null;
}

/**
 * Media work that takes more than a few milliseconds of processor time. It runs in threads. Input bytes move to a
 * thread: the caller must not use them afterwards.
 *
 * All functions throw {@linkcode GatewayError}: `overloaded` if too many jobs are queued, `internal_error` if the
 * thread ended.
 */
export interface MediaWork {
  /** Checks whether a PNG, JPEG, WebP or GIF can be decoded. */
  checkPicture(bytes: Uint8Array<ArrayBuffer>, accountId: string): Promise<CheckedImage>;
  /** See `reencodePicture`. */
  reencodePicture(
    bytes: Uint8Array<ArrayBuffer>,
    how: ReencodeOptions,
    accountId: string,
  ): Promise<Uint8Array<ArrayBuffer> | ImageProblem>;
  /** Returns the bytes and the length of the clip in seconds; null if the length cannot be determined. */
  measureAudio(
    bytes: Uint8Array<ArrayBuffer>,
    mediaType: string,
    accountId: string,
  ): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly seconds: number | null }>;
}

/** Runs a job in a thread. The buffer of the job moves. */
export type MediaRunner = (job: MediaJob, accountId: string) => Promise<unknown>;

/** The threads for media work. */
export interface MediaThreads extends MediaWork {
  /** Runs a job that another thread sent. */
  readonly run: MediaRunner;
  /** Ends the threads. */
  close(): void;
}

/** The time limit of one job. A picture of 64 megapixels takes about two seconds on an idle processor. */
const JOB_MS = 60_000;
const MAX_QUEUED = 256;
const MAX_QUEUED_PER_ACCOUNT = 32;
const HEAP_MEGABYTES = 256;
/** Decoding and re-encoding a picture of the maximum size takes half a gigabyte. */
const MAX_THREADS = 2;
const RETRY_AFTER_SECONDS = 5;

/** Creates the thread pool for media work. Threads start on demand. */
export function createMediaWork({ clock, log, start }: ThreadWorkOptions): MediaThreads {
  const pool = new WorkerPool({
    name: "media",
    start: start ?? threadStarter({
      kind: "media",
      entry: threadModule("platform/workers/media_entry"),
      heapMegabytes: HEAP_MEGABYTES,
    }),
    maxThreads: Math.min(MAX_THREADS, Math.max(1, navigator.hardwareConcurrency - 1)),
    maxQueued: MAX_QUEUED,
    maxQueuedPerAccount: MAX_QUEUED_PER_ACCOUNT,
    jobMs: JOB_MS,
    idleMs: THREAD_IDLE_MS,
    clock,
    log,
  });

  const run: MediaRunner = async (job, accountId) => {
    try {
      return await pool.run(job, { accountId }, [job.buffer]);
    } catch (error) {
      throw error instanceof WorkerFailure ? refusalOf(error) : error;
    }
  };
  return { ...mediaWorkBy(run), run, close: () => pool.close() };
}

/** Media work whose jobs are run by the threads for it, wherever those are started. */
export function mediaWorkBy(runner: MediaRunner): MediaWork {
  const run = async <R>(job: MediaJob, accountId: string) => await runner(job, accountId) as R;
  return {
    async checkPicture(bytes, accountId) {
      const job = { kind: "check-picture", buffer: ownBufferOf(bytes) } as const;
      const { buffer, mistake } = await run<{ buffer: ArrayBuffer; mistake: ImageProblem | null }>(job, accountId);
      return { bytes: new Uint8Array(buffer), problem: mistake };
    },
    async reencodePicture(bytes, how, accountId) {
      const job = { kind: "redraw-picture", buffer: ownBufferOf(bytes), how } as const;
      const result = await run<ArrayBuffer | ImageProblem>(job, accountId);
      return typeof result === "string" ? result : new Uint8Array(result);
    },
    async measureAudio(bytes, mediaType, accountId) {
      const job = { kind: "measure-audio", buffer: ownBufferOf(bytes), mediaType } as const;
      const { buffer, seconds } = await run<{ buffer: ArrayBuffer; seconds: number | null }>(job, accountId);
      return { bytes: new Uint8Array(buffer), seconds };
    },
  };
}

function refusalOf(failure: WorkerFailure): GatewayError {
  if (failure.kind === "busy") {
    const message = "Cannot inspect the media: too many jobs are queued. Retry in a few seconds";
    return new GatewayError("overloaded", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
  return new GatewayError("internal_error", "Cannot inspect the media: the job failed", { cause: failure });
}
