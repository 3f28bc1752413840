import type { Clock } from "../lib/clock.ts";
import { UpstreamFailure, withDoubt } from "./failure.ts";
import { imageExtras } from "./image_extras.ts";
import type { ImageCall, ImageOutcome } from "./image_upstream.ts";
import type { JsonExtras, Outbound } from "./outbound_call.ts";
import type { OutboundBody } from "./outbound_body.ts";

/** How a job that makes pictures stands. */
export type ImageProgress =
  | { readonly status: "pending" }
  | { readonly status: "completed"; readonly outcome: ImageOutcome }
  /** The job has ended without pictures. */
  | { readonly status: "failed"; readonly failure: UpstreamFailure };

/** A job that a vendor has accepted. */
export interface ImageJob {
  /** What was known of it when it was accepted. */
  readonly progress: ImageProgress;
  /**
   * Asks how it stands, with these extras. What it throws says nothing about the job.
   *
   * @throws {UpstreamFailure}
   */
  poll(extras: JsonExtras): Promise<ImageProgress>;
  /** Stops it, with these extras; null where the vendor cannot. */
  readonly cancel: ((extras: JsonExtras) => Promise<void>) | null;
}

/** What one order is carried out with. */
export interface ImageJobParts {
  readonly outbound: Outbound;
  /** For the pauses between polls, and the limit of the whole. */
  readonly clock: Clock;
  readonly call: ImageCall;
  readonly readError: NonNullable<JsonExtras["readError"]>;
  /** Statuses after which the vendor's own client orders again, so that nothing was made. Default: none. */
  readonly resentStatuses?: readonly number[];
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 3_000;
const PAUSE_GROWTH = 1.3;
const POLL_MS = 30_000;
const CANCEL_MS = 10_000;
/** So many polls in a row that were refused, not merely unanswered, end the waiting. */
const MAX_REFUSED_POLLS = 5;

/**
 * Orders pictures of a vendor that makes them as a job, once at most, over a connection of its own. A 5xx leaves open
 * whether the job began.
 *
 * @param read Digests the answer.
 */
export async function startImageJob<T>(
  { outbound, call, readError, resentStatuses }: ImageJobParts,
  path: string,
  body: OutboundBody,
  read: (answer: unknown) => T,
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  try {
    return await outbound.json("POST", path, body, read, {
      ...imageExtras(call, readError),
      headers,
      freshConnection: true,
    });
  } catch (thrown) {
    throw thrown instanceof UpstreamFailure ? withDoubt(thrown, resentStatuses) : thrown;
  }
}

/**
 * Waits for a job within the call that ordered it: asks again after pauses, as long as a provider's `first_byte`
 * allows. The job is paid for, so a poll that fails is repeated, later where the vendor says when. The job is
 * cancelled, where that is possible, when the caller's signal fires and when the time is over.
 *
 * @throws {UpstreamFailure} The job's own; else with `accepted: "unknown"`.
 */
export async function imagesOf(job: ImageJob, parts: ImageJobParts): Promise<ImageOutcome> {
  const { outbound, clock, call } = parts;
  const signal = call.callerSignal();
  const endsAt = clock.now() + outbound.firstByteMs;
  const refusals = new RefusedPolls();
  let { progress } = job;
  let askedPauseMs = 0;
  for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = Math.min(pauseMs * PAUSE_GROWTH, MAX_PAUSE_MS)) {
    if (progress.status === "completed") return progress.outcome;
    if (progress.status === "failed") throw progress.failure;
    if (signal.aborted) throw await givenUp(job, parts, "cancelled");
    const leftMs = endsAt - clock.now();
    if (leftMs <= 0) throw await givenUp(job, parts, "timeout");
    await pause(clock, Math.min(Math.max(pauseMs, askedPauseMs), leftMs), signal);
    if (signal.aborted) continue;
    try {
      progress = await job.poll(pollExtras(parts));
      askedPauseMs = 0;
      refusals.forget();
    } catch (thrown) {
      if (!(thrown instanceof UpstreamFailure)) throw thrown;
      askedPauseMs = (thrown.facts.retryAfterSeconds ?? 0) * 1_000;
      refusals.note(thrown);
    }
  }
}

/** Polls in a row that were refused, as with a key that has been revoked; those merely unanswered do not count. */
class RefusedPolls {
  #count = 0;

  forget(): void {
    this.#count = 0;
  }

  /** Throws the failure, as one that leaves open what was made, when there are too many. */
  note(failure: UpstreamFailure): void {
    const { provider, kind, message, facts } = failure;
    this.#count = kind === "auth" || kind === "forbidden" || kind === "invalid" ? this.#count + 1 : 0;
    if (this.#count < MAX_REFUSED_POLLS) return;
    // The caller's request was accepted: that its job is not found is no fault of the request.
    const known = kind === "invalid" ? "unavailable" : kind;
    throw new UpstreamFailure(provider, known, message, { ...facts, accepted: "unknown", isContentRefusal: false });
  }
}

function pollExtras({ outbound, call, readError }: ImageJobParts): JsonExtras {
  return { ...imageExtras(call, readError), firstByteMs: Math.min(POLL_MS, outbound.firstByteMs) };
}

/** Cancels the job, whether or not the vendor answers, and gives the failure to end with. */
async function givenUp(
  job: ImageJob,
  { outbound, readError }: ImageJobParts,
  kind: "cancelled" | "timeout",
): Promise<UpstreamFailure> {
  const extras = { firstByteMs: Math.min(CANCEL_MS, outbound.firstByteMs), readError };
  await job.cancel?.(extras).catch(() => {});
  return outbound.failure(kind, "", { accepted: "unknown" });
}

/** Resolves after the time, and at once when the signal fires. */
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
