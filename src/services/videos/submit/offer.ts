import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { providerNameOf } from "../../../platform/names/provider_name.ts";
import type { Candidate } from "../../../vendors/routing/candidates.ts";
import type { Slot } from "../../../vendors/routing/slot_queue.ts";
import type { Job } from "../../../platform/store/store.ts";
import { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type { VideoJobHandle, VideoOrder, VideoUpstream } from "../../../vendors/upstreams/contract/video_upstream.ts";
import type { HeldCreateMemory } from "../create/create_memory.ts";
import type { TaskEntry } from "../tasks/records.ts";
import { isTemporaryRejection, isUnsupportedOrder, isWithinRetryPeriod } from "./rejections.ts";
import { isSubmitting, recordStage, recordSubmission, retryNow, type SubmittingEntry } from "./submission.ts";
import { failTask, taskErrorOf } from "./submit_failure.ts";
import type { SubmitLimits } from "./submit_limits.ts";
import type { TaskError, VideoTask } from "../tasks/task.ts";
import { isHandleStorable } from "../create/task_size.ts";
import { vendorOrderOf } from "./vendor_order.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/**
 * Result of offering a task to one provider. Nothing was sent for `full`, `circuit_open` and `unsupported`.
 * - `done`: the job is completed or rescheduled.
 * - `full`: the provider has the maximum number of concurrent create calls, or no free slot within its limits.
 * - `circuit_open`: the provider's circuit is open.
 * - `unsupported`: the order has no form for this provider.
 * - `refused`: the provider definitely rejected the task for now; another provider may get it.
 * - `unknown`: the vendor may have started.
 */
export type OfferOutcome =
  | { readonly how: "done" }
  | { readonly how: "full" }
  | { readonly how: "circuit_open" }
  | { readonly how: "unsupported"; readonly entry: TaskEntry; readonly error: TaskError }
  | { readonly how: "refused"; readonly entry: TaskEntry; readonly refusal: UpstreamFailure }
  | { readonly how: "unknown"; readonly entry: SubmittingEntry };

const DONE: OfferOutcome = { how: "done" };
const FULL: OfferOutcome = { how: "full" };
const CIRCUIT_OPEN: OfferOutcome = { how: "circuit_open" };

/**
 * Offers a task to one provider. The record is changed before the vendor is called. From then until the response is
 * recorded, the vendor may have the task.
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
  if (isCircuitOpen(parts, start.value, candidate)) return CIRCUIT_OPEN;
  using permit = limits.creates.acquire(provider, account);
  if (permit === null) return FULL;
  // Held until the vendor has responded, because the request may have to be written until then.
  using memory = limits.memory.lease(provider, account);
  const order = await orderOrError(parts, start.value, candidate, { upstream, memory });
  if (order instanceof GatewayError) {
    return order.code === "overloaded" ? FULL : { how: "unsupported", entry: start, error: order };
  }
  const slot = await slotOrNull(parts, provider, account);
  if (slot === null) return FULL;
  try {
    // Checked again: another call may have become the probe while media were fetched.
    if (isCircuitOpen(parts, start.value, candidate)) return CIRCUIT_OPEN;
    return await callVendor(parts, limits, start, candidate, job, () => upstream.create(order));
  } finally {
    slot.end(0);
  }
}

const UNLIMITED: Slot = { end() {} };

/** Takes a slot of the provider. Null if none is free in time. */
async function slotOrNull({ slots }: VideoParts, provider: string, accountId: string): Promise<Slot | null> {
  try {
    return await slots?.take(provider, { accountId, tokens: 0 }) ?? UNLIMITED;
  } catch (error) {
    if (error instanceof UpstreamFailure) return null;
    throw error;
  }
}

/** Records the call, calls the vendor, and records the response. */
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
    if (entry !== null) handle = checkHandle(await create(), candidate);
  } catch (error) {
    report.failed(error);
    if (entry !== null && isUnsent(error)) {
      return await recordUnsent(parts, entry, job, (waiting) => ({ how: "unsupported", entry: waiting, error }));
    }
    if (entry === null || !(error instanceof UpstreamFailure)) throw error;
    logFailure(parts, entry.value, candidate.provider, error);
    return await onFailure(parts, entry, job, error);
  }
  if (entry === null || handle === null) {
    report.failed(null); // not a fault of the provider
    return await done(retryNow(parts, job));
  }
  report.succeeded();
  return await done(recordSubmission(parts, limits, entry, handle, job));
}

/** @throws {UpstreamFailure} If the vendor started a job whose id is too long for the record. */
function checkHandle(handle: VideoJobHandle, { provider }: Candidate): VideoJobHandle {
  if (isHandleStorable(handle)) return handle;
  const facts = { status: 200, accepted: "unknown" } as const;
  throw new UpstreamFailure(
    providerNameOf(provider),
    "broken",
    `the job's id is too long: ${handle.id.length} characters`,
    facts,
  );
}

/**
 * Whether a provider's circuit is open. A vendor's `Retry-After` also opens it. A task past its retry period ignores
 * it.
 */
function isCircuitOpen({ store, breaker }: VideoParts, task: VideoTask, candidate: Candidate): boolean {
  return isWithinRetryPeriod(task, store.now()) && breaker.availabilityOf(candidate, task.account) === "resting";
}

async function done(work: Promise<void>): Promise<OfferOutcome> {
  await work;
  return DONE;
}

/** Records that the provider is about to be called; null if the task changed since it was read. */
async function recordCall(
  parts: VideoParts,
  start: TaskEntry,
  { provider, model }: Candidate,
): Promise<SubmittingEntry | null> {
  const now = parts.store.now();
  const { offers = 0, firstOfferedAt, createdAt } = start.value;
  const entry = await recordStage(parts, start, { step: "submitting", provider, model, since: now }, {
    offers: offers + 1,
    // At most `now`: if the clock moved backwards, the retry period would otherwise be extended.
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
  if (isTemporaryRejection(failure)) {
    return await recordUnsent(parts, entry, job, (waiting) => ({ how: "refused", entry: waiting, refusal: failure }));
  }
  if (isUnsupportedOrder(failure)) {
    const error = taskErrorOf(failure);
    return await recordUnsent(parts, entry, job, (waiting) => ({ how: "unsupported", entry: waiting, error }));
  }
  if (failure.facts.accepted === "unknown") return { how: "unknown", entry };
  return await done(failTask(parts, entry, job, taskErrorOf(failure)));
}

/** Records that no vendor has the task. */
async function recordUnsent(
  parts: VideoParts,
  entry: SubmittingEntry,
  job: Job,
  outcomeOf: (waiting: TaskEntry) => OfferOutcome,
): Promise<OfferOutcome> {
  const waiting = await recordStage(parts, entry, { step: "waiting" });
  return waiting === null ? await done(retryNow(parts, job)) : outcomeOf(waiting);
}

/** An order without a form for the provider is never sent. */
function isUnsent(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code === "invalid_request";
}

async function orderOrError(
  parts: VideoParts,
  task: VideoTask,
  candidate: Candidate,
  means: { readonly upstream: VideoUpstream; readonly memory: HeldCreateMemory },
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
