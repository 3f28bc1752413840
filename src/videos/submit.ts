import type { JobHandler } from "../store/jobs.ts";
import type { Job } from "../store/store.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import { type MemoryLease, UNLIMITED_MEMORY } from "../lib/memory_budget.ts";
import { type Candidate, candidatesFor } from "../routing/candidates.ts";
import { isFallbackAllowed, MEDIA_FALLBACK } from "../routing/fallback_rule.ts";
import { gatewayErrorFor, UpstreamFailure } from "../upstreams/failure.ts";
import type { VideoJobHandle, VideoOrder, VideoUpstream } from "../upstreams/video_upstream.ts";
import { endOverdue } from "./expire.ts";
import { mediaFor } from "./media_publishing.ts";
import { nextPollMs } from "./poll_schedule.ts";
import { orderAt } from "./provider_options.ts";
import { addJob, changeTask, postponeJob, readTask, settleJob, type TaskEntry } from "./records.ts";
import { Seats } from "./seats.ts";
import type { TaskError, TaskStage, VideoTask } from "./task.ts";
import { endTask } from "./terminal.ts";
import type { VideoParts } from "./video_parts.ts";

/** How long vendors that refuse for now (busy, down, not reached) are tried again. */
const PATIENCE_MS = 600_000;
const LONGEST_WAIT_MS = 60_000;
/** How long a task whose creations get lost is offered anew. */
const LONGEST_HANDOVER_MS = 3_600_000;
/** At one provider at once. */
const MOST_CREATIONS = 24;
/** Between two searches for a task whose creation was not answered. */
const SEARCH_MS = { least: 5_000, most: 300_000 };
/** A vendor's clock may go before ours. */
const CLOCK_SKEW_MS = 60_000;

/**
 * The job that hands a task to a vendor. Before a vendor is called, the task's record says so; from then on until the answer is
 * recorded, the vendor may have the task, and nobody else is given it. See {@linkcode VideoTask}.
 */
export function submitHandler(parts: VideoParts): JobHandler {
  const seats = new Seats(MOST_CREATIONS);
  return async (job) => {
    const entry = await readTask(parts.store, job.ref);
    if (!entry || entry.value.status !== "pending" || entry.value.stage.step === "submitted") {
      await parts.store.commit(null, { settle: [job] });
    } else if (entry.value.deadlineAt <= parts.store.now()) {
      await endOverdue(parts, entry, job);
    } else if (entry.value.stage.step === "submitting") {
      await search(parts, entry, job);
    } else {
      await offer(parts, entry, job, seats);
    }
  };
}

/** Tries the candidates that are left, one after the other, while each refuses for certain. */
async function offer(parts: VideoParts, start: TaskEntry, job: Job, seats: Seats): Promise<void> {
  let entry = start;
  let refusal: UpstreamFailure | null = null;
  const candidates = candidatesOrError(parts, start.value);
  if (candidates instanceof GatewayError) return void await fail(parts, start, job, candidates);
  for (const candidate of candidates) {
    const outcome = await seats.with(candidate.provider, () => offerTo(parts, entry, candidate, job));
    if (outcome === null) {
      const backAt = seats.comeBackAt(candidate.provider, parts.store.now());
      return await postponeJob(parts.store, job, backAt, job.attempt);
    }
    if (outcome === "over") return;
    ({ entry, refusal } = outcome);
  }
  await tryLater(parts, entry, job, refusal);
}

/** Offers a task to one provider; `over` unless it surely refused for now, so that another can have it. */
async function offerTo(
  parts: VideoParts,
  start: TaskEntry,
  candidate: Candidate,
  job: Job,
): Promise<"over" | { readonly entry: TaskEntry; readonly refusal: UpstreamFailure }> {
  const { provider, model } = candidate;
  const upstream = parts.upstreams.get(provider)!;
  // Held until the vendor has the request. Where there is no room the job is put off.
  using memory = (parts.memory ?? UNLIMITED_MEMORY).lease(start.value.account);
  const order = await orderOrError(parts, start.value, candidate, { upstream, memory });
  if (order instanceof GatewayError) return await fail(parts, start, job, order);
  const stage = { step: "submitting", provider, model, since: parts.store.now() } as const;
  const entry = await recordStage(parts, start, stage, (start.value.offers ?? 0) + 1);
  if (entry === null) return await passOn(parts, job);
  const report = parts.breaker.onStart(candidate, start.value.account);
  let handle: VideoJobHandle;
  try {
    handle = await upstream.create(order);
  } catch (error) {
    report.failed(error);
    if (!(error instanceof UpstreamFailure)) throw error;
    logFailure(parts, entry.value, provider, error);
    return await onRefusal(parts, entry, job, error);
  }
  report.succeeded();
  return await markSubmitted(parts, entry, handle, job);
}

/** Passes the task on where {@linkcode MEDIA_FALLBACK} allows it; `over` where not. */
async function onRefusal(
  parts: VideoParts,
  entry: TaskEntry,
  job: Job,
  refusal: UpstreamFailure,
): Promise<"over" | { readonly entry: TaskEntry; readonly refusal: UpstreamFailure }> {
  if (!isFallbackAllowed(refusal, MEDIA_FALLBACK)) {
    if (refusal.facts.accepted === "unknown") return await search(parts, entry, job);
    return await fail(parts, entry, job, errorOf(refusal));
  }
  const waiting = await recordStage(parts, entry, { step: "waiting" });
  return waiting === null ? await passOn(parts, job) : { entry: waiting, refusal };
}

/**
 * The providers to offer a task to, in this round's order; those that no longer serve the model are left out. The error when
 * all of them are misconfigured.
 */
function candidatesOrError(
  { catalog, upstreams, breaker, random }: VideoParts,
  task: VideoTask,
): readonly Candidate[] | GatewayError {
  const serving = catalog.find(task.model)?.serves.filter(({ provider }) => upstreams.has(provider)) ?? [];
  try {
    return candidatesFor(serving, task.pin, { breaker, accountId: task.account, random });
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

async function orderOrError(...given: Parameters<typeof orderFor>): Promise<VideoOrder | GatewayError> {
  try {
    return await orderFor(...given);
  } catch (error) {
    if (error instanceof GatewayError && error.code !== "overloaded") return error;
    throw error;
  }
}

async function orderFor(
  parts: VideoParts,
  task: VideoTask,
  candidate: Candidate,
  { upstream, memory }: { readonly upstream: VideoUpstream; readonly memory: MemoryLease },
): Promise<VideoOrder> {
  const order = orderAt(task.order!, candidate.provider);
  const write = (media: NonNullable<typeof order.firstFrame>) => mediaFor(parts, media, upstream.mediaForms, memory);
  return {
    ...order,
    taskId: task.id,
    model: candidate.model,
    mode: task.mode,
    prompt: task.prompt,
    callbackUrl: null,
    firstFrame: order.firstFrame && await write(order.firstFrame),
    lastFrame: order.lastFrame && await write(order.lastFrame),
    references: await Promise.all(order.references.map(write)),
  };
}

/** The entry that the change leaves; null when the task is not as it was read, so that the job must look anew. */
async function recordStage(
  { store }: VideoParts,
  entry: TaskEntry,
  stage: TaskStage,
  offers = entry.value.offers,
): Promise<TaskEntry | null> {
  const { ok } = await store.commit(null, changeTask({}, entry, { stage, offers }));
  const now = ok ? await readTask(store, entry.value.id) : null;
  // A caller may have ended the task between commit and reading, as long as no vendor can have it (see cancel.ts).
  return now?.value.status === "pending" ? now : null;
}

/** Another moved the task: the job is due again at once and finds out how it stands. */
async function passOn({ store }: VideoParts, job: Job): Promise<"over"> {
  await postponeJob(store, job, store.now(), job.attempt);
  return "over";
}

async function markSubmitted(parts: VideoParts, entry: TaskEntry, handle: VideoJobHandle, job: Job): Promise<"over"> {
  const { store, log, settings, random } = parts;
  const { stage, id, deadlineAt } = entry.value;
  if (stage.step !== "submitting") return "over";
  const now = store.now();
  const { provider, model } = stage;
  const change = { stage: { step: "submitted", provider, model, job: handle, since: now } } as const;
  const dueAt = Math.min(now + nextPollMs(settings.polling, 0, undefined, random), deadlineAt);
  const recorded = addJob(changeTask({}, entry, change), "video_poll", id, dueAt);
  let result = await store.commit(null, settleJob(recorded, job));
  // A worker whose lease was lost still knows what nobody else does: the record counts, not who writes it.
  if (!result.ok && result.why === "fenced") result = await store.commit(null, recorded);
  if (result.ok) log.info("video_submitted", { ref: id, provider, model: entry.value.model });
  else log.error("video_submitted_unrecorded", { ref: id, provider, reason: result.why });
  return "over";
}

/**
 * The fate of a creation is unknown. A vendor that can be asked for the task is asked until it is found, or surely absent: longer
 * ago than any creation takes, and not there when the vendor looks. Elsewhere the task waits for its deadline.
 */
async function search(parts: VideoParts, entry: TaskEntry, job: Job): Promise<"over"> {
  const { store, upstreams, log, settings } = parts;
  const { stage, id, deadlineAt } = entry.value;
  if (stage.step !== "submitting") return "over";
  const find = upstreams.get(stage.provider)?.find ?? null;
  const found = find === null ? "unknown" : await lookFor(parts, entry.value, find);
  if (typeof found === "object") return await markSubmitted(parts, entry, found, job);
  const now = store.now();
  const doubtEndsAt = stage.since + settings.doubtMs;
  if (found === "absent" && now >= doubtEndsAt) return await beginAgain(parts, entry, job);
  log.error("video_submission_unknown", { ref: id, provider: stage.provider, attempt: job.attempt });
  const waitMs = Math.min(Math.max((now - stage.since) / 2, SEARCH_MS.least), SEARCH_MS.most);
  const nextAt = now < doubtEndsAt ? Math.min(now + waitMs, doubtEndsAt) : now + waitMs;
  await postponeJob(store, job, find === null ? deadlineAt : Math.min(nextAt, deadlineAt), job.attempt + 1);
  return "over";
}

/** The vendor's word on a creation that it did not answer; `unknown` when that was not answered either. */
async function lookFor(
  parts: VideoParts,
  task: VideoTask,
  find: NonNullable<VideoUpstream["find"]>,
): Promise<VideoJobHandle | "absent" | "unknown"> {
  if (task.stage.step !== "submitting") return "unknown";
  const { provider, model, since } = task.stage;
  // Media are not needed to recognise a task, and may be gone.
  const order = {
    ...orderAt(task.order!, provider),
    firstFrame: null,
    lastFrame: null,
    references: [],
    callbackUrl: null,
  };
  const sought = { ...order, taskId: task.id, model, mode: task.mode, prompt: task.prompt };
  try {
    return await find(sought, since - CLOCK_SKEW_MS) ?? "absent";
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    parts.log.warn("video_search_failed", { ref: task.id, provider, code: error.kind });
    return "unknown";
  }
}

/** The vendor never had the task: it is offered anew, or has failed when that has gone on for long. */
async function beginAgain(parts: VideoParts, entry: TaskEntry, job: Job): Promise<"over"> {
  const { id, createdAt, stage } = entry.value;
  const provider = stage.step === "submitting" ? stage.provider : "";
  parts.log.error("video_submission_lost", { ref: id, provider, attempt: job.attempt });
  if (parts.store.now() - createdAt >= LONGEST_HANDOVER_MS) {
    return await fail(parts, entry, job, {
      code: "upstream_error",
      message: `Provider "${provider}" did not take the task`,
    });
  }
  await recordStage(parts, entry, { step: "waiting" });
  return await passOn(parts, job);
}

/** All candidates refuse for now: the task waits for another round, for ten minutes in all. */
async function tryLater(parts: VideoParts, entry: TaskEntry, job: Job, refusal: UpstreamFailure | null): Promise<void> {
  const { store } = parts;
  const now = store.now();
  const isLost = refusal !== null && (isOperators(refusal) || now - entry.value.createdAt >= PATIENCE_MS);
  if (refusal === null || isLost) {
    const none = { code: "route_error", message: "No provider serves the model any more" };
    await fail(parts, entry, job, refusal ? errorOf(refusal) : none);
    return;
  }
  const askedMs = (refusal.facts.retryAfterSeconds ?? 0) * 1_000;
  const waitMs = Math.max(Math.min(2 ** job.attempt * 1_000, LONGEST_WAIT_MS), Math.min(askedMs, PATIENCE_MS));
  const dueAt = Math.min(now + waitMs, entry.value.deadlineAt);
  await postponeJob(store, job, dueAt, job.attempt + 1);
}

/** Whether waiting cannot mend it: the key or the vendor's account must be changed. */
function isOperators({ kind }: UpstreamFailure): boolean {
  return kind === "auth" || kind === "forbidden";
}

async function fail(parts: VideoParts, entry: TaskEntry, job: Job, { code, message }: TaskError): Promise<"over"> {
  const ended = await endTask(parts, entry, { status: "failed", error: { code, message } }, job);
  return ended === null ? await passOn(parts, job) : "over";
}

/** Words that a caller would take for its own. */
const VENDOR_AFFAIRS: ReadonlySet<string> = new Set(["not_found", "upstream_timeout", "permission_denied"]);

/** A refusal of what the caller ordered keeps the vendor's words; the rest is the vendor's or the operator's affair. */
function errorOf(failure: UpstreamFailure): TaskError {
  if (failure.facts.isContentRefusal) {
    return { code: "content_policy_violation", message: failure.message };
  }
  const { code, message } = gatewayErrorFor(failure);
  return { code: VENDOR_AFFAIRS.has(code) ? "upstream_error" : code, message };
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
