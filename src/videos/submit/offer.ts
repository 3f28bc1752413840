import { GatewayError } from "../../lib/gateway_error.ts";
import type { Candidate } from "../../routing/candidates.ts";
import type { Job } from "../../store/store.ts";
import { UpstreamFailure } from "../../upstreams/failure.ts";
import type { VideoJobHandle, VideoOrder, VideoUpstream } from "../../upstreams/video_upstream.ts";
import type { CreateLease } from "../create/create_memory.ts";
import type { TaskEntry } from "../tasks/records.ts";
import { isAdaptersOwn, isPatient, isRefusalForNow } from "./refusals.ts";
import { isSubmitting, lookAgain, recordStage, recordSubmission, type SubmittingEntry } from "./submission.ts";
import { failTask, taskErrorOf } from "./submit_failure.ts";
import type { SubmitLimits } from "./submit_limits.ts";
import type { TaskError, VideoTask } from "../tasks/task.ts";
import { isKeepable } from "../create/task_size.ts";
import { vendorOrderOf } from "./vendor_order.ts";
import type { VideoParts } from "../video_parts.ts";

/**
 * How an offer ended. `done`: the job is completed or put off. `full`: as many creates are under way there as may be,
 * and nothing was sent. `resting`: its circuit is open, and nothing was sent. `unfit`: the order cannot be written for
 * this provider, and nothing was sent. `refused`: the provider surely refused for now, another may have the task.
 * `unknown`: the vendor may have begun.
 */
export type OfferOutcome =
  | { readonly how: "done" }
  | { readonly how: "full" }
  | { readonly how: "resting" }
  | { readonly how: "unfit"; readonly entry: TaskEntry; readonly error: TaskError }
  | { readonly how: "refused"; readonly entry: TaskEntry; readonly refusal: UpstreamFailure }
  | { readonly how: "unknown"; readonly entry: SubmittingEntry };

const DONE: OfferOutcome = { how: "done" };
const FULL: OfferOutcome = { how: "full" };
const RESTING: OfferOutcome = { how: "resting" };

/**
 * Offers a task to one provider. Before the vendor is called, the task's record says so; from then on until the answer
 * is recorded the vendor may have the task.
 */
export async function offerTask(
  parts: VideoParts,
  limits: SubmitLimits,
  start: TaskEntry,
  candidate: Candidate,
  job: Job,
): Promise<OfferOutcome> {
  const { provider } = candidate;
  const { account } = start.value;
  const upstream = parts.upstreams.get(provider)!;
  if (isResting(parts, start.value, candidate)) return RESTING;
  using permit = limits.creates.acquire(provider, account);
  if (permit === null) return FULL;
  // Held until the vendor has answered: until then the request may have to be written.
  using memory = limits.memory.lease(provider, account);
  const order = await orderOrError(parts, start.value, candidate, { upstream, memory });
  if (order instanceof GatewayError) {
    return order.code === "overloaded" ? FULL : { how: "unfit", entry: start, error: order };
  }
  // Looked at again: while media were fetched another call may have become the probe.
  if (isResting(parts, start.value, candidate)) return RESTING;
  return await callVendor(parts, limits, start, candidate, job, () => upstream.create(order));
}

/** Calls the vendor, with the call in the task's record, and records what it said. */
async function callVendor(
  parts: VideoParts,
  limits: SubmitLimits,
  start: TaskEntry,
  candidate: Candidate,
  job: Job,
  create: () => Promise<VideoJobHandle>,
): Promise<OfferOutcome> {
  const report = parts.breaker.onStart(candidate, start.value.account);
  let entry: SubmittingEntry | null = null;
  let handle: VideoJobHandle | null = null;
  try {
    entry = await recordCall(parts, start, candidate);
    if (entry !== null) handle = keepable(await create(), candidate);
  } catch (error) {
    report.failed(error);
    if (entry !== null && isUnsent(error)) {
      return await takeBack(parts, entry, job, (waiting) => ({ how: "unfit", entry: waiting, error }));
    }
    if (entry === null || !(error instanceof UpstreamFailure)) throw error;
    logFailure(parts, entry.value, candidate.provider, error);
    return await onFailure(parts, entry, job, error);
  }
  if (entry === null || handle === null) {
    report.failed(null); // says nothing of the provider
    return await done(lookAgain(parts, job));
  }
  report.succeeded();
  return await done(recordSubmission(parts, limits, entry, handle, job));
}

/** @throws {UpstreamFailure} For a job that the vendor has begun and calls by a name that no record can keep. */
function keepable(handle: VideoJobHandle, { provider }: Candidate): VideoJobHandle {
  if (isKeepable(handle)) return handle;
  const facts = { status: 200, accepted: "unknown" } as const;
  throw new UpstreamFailure(provider, "broken", `the job's id is too long: ${handle.id.length} characters`, facts);
}

/** A circuit is open for as long as the vendor asks to be left alone. A task out of patience is tried all the same. */
function isResting({ store, breaker }: VideoParts, task: VideoTask, candidate: Candidate): boolean {
  return isPatient(task, store.now()) && breaker.availabilityOf(candidate, task.account) === "resting";
}

async function done(work: Promise<void>): Promise<OfferOutcome> {
  await work;
  return DONE;
}

/** Says in the record that the provider is about to be called; null when the task is not as it was read. */
async function recordCall(
  parts: VideoParts,
  start: TaskEntry,
  { provider, model }: Candidate,
): Promise<SubmittingEntry | null> {
  const now = parts.store.now();
  const { offers = 0, firstOfferedAt, createdAt } = start.value;
  const entry = await recordStage(parts, start, { step: "submitting", provider, model, since: now }, {
    offers: offers + 1,
    // Not later than now: patience would else last until a clock that was set back has caught up.
    firstOfferedAt: Math.min(firstOfferedAt ?? (offers === 0 ? now : createdAt), now),
  });
  return entry !== null && isSubmitting(entry) ? entry : null;
}

async function onFailure(
  parts: VideoParts,
  entry: SubmittingEntry,
  job: Job,
  failure: UpstreamFailure,
): Promise<OfferOutcome> {
  if (isRefusalForNow(failure)) {
    return await takeBack(parts, entry, job, (waiting) => ({ how: "refused", entry: waiting, refusal: failure }));
  }
  if (isAdaptersOwn(failure)) {
    const error = taskErrorOf(failure);
    return await takeBack(parts, entry, job, (waiting) => ({ how: "unfit", entry: waiting, error }));
  }
  if (failure.facts.accepted === "unknown") return { how: "unknown", entry };
  return await done(failTask(parts, entry, job, taskErrorOf(failure)));
}

/** Says in the record that no vendor has the task. */
async function takeBack(
  parts: VideoParts,
  entry: SubmittingEntry,
  job: Job,
  outcomeOf: (waiting: TaskEntry) => OfferOutcome,
): Promise<OfferOutcome> {
  const waiting = await recordStage(parts, entry, { step: "waiting" });
  return waiting === null ? await done(lookAgain(parts, job)) : outcomeOf(waiting);
}

/** An order that cannot be written as a request never leaves the gateway. */
function isUnsent(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code === "invalid_request";
}

async function orderOrError(
  parts: VideoParts,
  task: VideoTask,
  candidate: Candidate,
  means: { readonly upstream: VideoUpstream; readonly memory: CreateLease },
): Promise<VideoOrder | GatewayError> {
  try {
    return await vendorOrderOf(parts, task, candidate, means);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

function logFailure({ log }: VideoParts, task: VideoTask, provider: string, failure: UpstreamFailure): void {
  log.warn("video_submission_failed", {
    ref: task.id,
    provider,
    code: failure.kind,
    status: failure.facts.status ?? undefined,
    state: failure.facts.accepted === "no" ? "refused" : "unknown",
  });
}
