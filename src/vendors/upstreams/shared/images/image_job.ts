import type { Clock } from "../../../../platform/lib/basics/clock.ts";
import { creationFailureOf, UpstreamFailure } from "../../call/failure.ts";
import { imageRequestOptions } from "./image_request_options.ts";
import type { ImageCall, ImageOutcome } from "../../contract/image_upstream.ts";
import type { JsonRequestOptions, Outbound } from "../../call/outbound_call.ts";
import type { OutboundBody } from "../../call/outbound_body.ts";

/** The state of an image job. */
export type ImageProgress =
  | { readonly status: "pending" }
  | { readonly status: "completed"; readonly outcome: ImageOutcome }
  /** The job ended without images. */
  | { readonly status: "failed"; readonly failure: UpstreamFailure };

/** A job that a vendor has accepted. */
export interface ImageJob {
  /** The state in the response that accepted the job. */
  readonly progress: ImageProgress;
  /**
   * Requests the state. An error does not imply that the job failed.
   *
   * @throws {UpstreamFailure}
   */
  poll(options: JsonRequestOptions): Promise<ImageProgress>;
  /** Cancels the job; null if the vendor does not support it. */
  readonly cancel: ((options: JsonRequestOptions) => Promise<void>) | null;
}

/** The dependencies of one image request. */
export interface ImageJobParts {
  readonly outbound: Outbound;
  /** Used for the pauses between polls and for the overall time limit. */
  readonly clock: Clock;
  readonly call: ImageCall;
  readonly readError: NonNullable<JsonRequestOptions["readError"]>;
  /** Statuses after which the vendor's own client submits again, so that no image was created. Default: none. */
  readonly resentStatuses?: readonly number[];
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 3_000;
const PAUSE_GROWTH = 1.3;
const POLL_TIMEOUT_MS = 30_000;
const CANCEL_TIMEOUT_MS = 10_000;
/** The maximum number of consecutive polls that the vendor rejects. Polls without a response do not count. */
const MAX_REJECTED_POLLS = 5;

/**
 * Submits an image job at most once, over a new connection. After a 5xx the job may exist.
 *
 * @param read Reads the response.
 */
export async function startImageJob<T>(
  { outbound, call, readError, resentStatuses }: ImageJobParts,
  path: string,
  body: OutboundBody,
  read: (response: unknown) => T,
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  try {
    return await outbound.json("POST", path, body, read, {
      ...imageRequestOptions(call, readError),
      headers,
      freshConnection: true,
    });
  } catch (thrown) {
    throw thrown instanceof UpstreamFailure ? creationFailureOf(thrown, resentStatuses) : thrown;
  }
}

/**
 * Waits for a job within the caller's request. Polls until the provider's `first_byte` timeout. The job is already paid
 * for, so a failed poll is repeated, after the delay that the vendor requests. The job is cancelled, where the vendor
 * supports it, when the caller disconnects and on timeout.
 *
 * @throws {UpstreamFailure} The failure of the job, or one with `accepted: "unknown"`.
 */
export async function waitForImages(job: ImageJob, parts: ImageJobParts): Promise<ImageOutcome> {
  const { outbound, clock, call } = parts;
  const signal = call.callerSignal();
  const endsAt = clock.monotonicMs() + outbound.firstByteMs;
  const rejectedPolls = new RejectedPolls();
  let { progress } = job;
  let retryDelayMs = 0;
  for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = Math.min(pauseMs * PAUSE_GROWTH, MAX_PAUSE_MS)) {
    if (progress.status === "completed") return progress.outcome;
    if (progress.status === "failed") throw progress.failure;
    if (signal.aborted) throw await cancelAndFail(job, parts, "cancelled");
    const leftMs = endsAt - clock.monotonicMs();
    if (leftMs <= 0) throw await cancelAndFail(job, parts, "timeout");
    await pause(clock, Math.min(Math.max(pauseMs, retryDelayMs), leftMs), signal);
    if (signal.aborted) continue;
    try {
      progress = await job.poll(pollOptions(parts));
      retryDelayMs = 0;
      rejectedPolls.forget();
    } catch (thrown) {
      if (!(thrown instanceof UpstreamFailure)) throw thrown;
      retryDelayMs = (thrown.facts.retryAfterSeconds ?? 0) * 1_000;
      rejectedPolls.note(thrown);
    }
  }
}

/** Counts consecutive rejected polls, as after a key was revoked. Polls without a response do not count. */
class RejectedPolls {
  #count = 0;

  forget(): void {
    this.#count = 0;
  }

  /** Counts a failed poll. At the maximum it throws the failure, with `accepted: "unknown"`. */
  note(failure: UpstreamFailure): void {
    const { provider, kind, message, facts } = failure;
    this.#count = kind === "auth" || kind === "forbidden" || kind === "invalid" ? this.#count + 1 : 0;
    if (this.#count < MAX_REJECTED_POLLS) return;
    // The vendor accepted the caller's request, so a missing job is not an invalid request.
    const reportedKind = kind === "invalid" ? "unavailable" : kind;
    throw new UpstreamFailure(provider, reportedKind, message, {
      ...facts,
      accepted: "unknown",
      isContentRefusal: false,
    });
  }
}

function pollOptions({ outbound, call, readError }: ImageJobParts): JsonRequestOptions {
  const { onResponse: _, ...options } = imageRequestOptions(call, readError); // the id of the first response is recorded
  return { ...options, firstByteMs: Math.min(POLL_TIMEOUT_MS, outbound.firstByteMs) };
}

/** Cancels the job, ignoring errors, and returns the failure to throw. */
async function cancelAndFail(
  job: ImageJob,
  { outbound, readError }: ImageJobParts,
  kind: "cancelled" | "timeout",
): Promise<UpstreamFailure> {
  const options = { firstByteMs: Math.min(CANCEL_TIMEOUT_MS, outbound.firstByteMs), readError };
  await job.cancel?.(options).catch(() => {});
  return outbound.failure(kind, "", { accepted: "unknown" });
}

/** Resolves after the delay, or at once when the signal aborts. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      stop();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const stop = clock.after(ms, end);
    signal.addEventListener("abort", end);
  });
}
