import type { JobHandler } from "../../../platform/store/job_runner.ts";
import type { Job } from "../../../platform/store/store.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { type Candidate, candidatesFor } from "../../../vendors/routing/candidates.ts";
import { forAcceptedWork } from "../../../vendors/routing/halted_providers.ts";
import type { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import { endOverdue } from "../tasks/expire.ts";
import { offerTask } from "./offer.ts";
import { postponeSubmit, readTask, type TaskEntry } from "../tasks/records.ts";
import { backoffMs, isWithinRetryPeriod, mainRejection, needsOperator } from "./rejections.ts";
import { resolveUnknownOutcome } from "./search.ts";
import { isSubmitting } from "./submission.ts";
import { failTask, taskErrorOf } from "./submit_failure.ts";
import type { SubmitLimits } from "./submit_limits.ts";
import type { TaskError, VideoTask } from "../tasks/task.ts";
import { canTakeMedia } from "./vendor_order.ts";
import type { VideoParts } from "../tasks/video_parts.ts";
import { laterBy } from "../../../platform/store/store_time.ts";

/** Results of the providers of one round, none of which accepted the task. */
interface Round {
  readonly refusals: UpstreamFailure[];
  /** The first provider with the maximum number of concurrent create calls; null if there is none. */
  fullProvider: string | null;
  /** The error of the first provider that has no form for the order; null if there is none. */
  unsupported: TaskError | null;
  /** Whether a provider was skipped because its circuit is open. */
  hasOpenCircuit: boolean;
}

/** Creates the handler of jobs that submit a task to a vendor; see {@linkcode VideoTask} for the stages. */
export function submitHandler(parts: VideoParts, limits: SubmitLimits): JobHandler {
  return async (job) => {
    const entry = await readTask(parts.store, job.ref);
    if (!entry || entry.value.status !== "pending" || entry.value.stage.step === "submitted") {
      limits.unrecorded.delete(job.ref);
      await parts.store.commit(null, { completeJobs: [job] });
    } else if (entry.value.deadlineAt <= parts.store.now()) {
      await endOverdue(parts, entry, job);
    } else if (isSubmitting(entry)) {
      await resolveUnknownOutcome(parts, limits, entry, job);
    } else {
      await offerRound(parts, limits, entry, job);
    }
  };
}

/** Offers a task to the candidates in turn, until one accepts it or may have accepted it. */
async function offerRound(parts: VideoParts, limits: SubmitLimits, start: TaskEntry, job: Job): Promise<void> {
  let entry = start;
  const round: Round = { refusals: [], fullProvider: null, unsupported: null, hasOpenCircuit: false };
  const candidates = candidatesOrError(parts, start.value);
  if (candidates instanceof GatewayError) return await failTask(parts, start, job, candidates);
  for (const candidate of candidates) {
    const outcome = await offerTask(parts, limits, entry, candidate, job);
    switch (outcome.how) {
      case "done":
        return;
      case "unknown":
        return await resolveUnknownOutcome(parts, limits, outcome.entry, job);
      case "circuit_open":
        round.hasOpenCircuit = true;
        break;
      case "full":
        round.fullProvider ??= candidate.provider;
        break;
      case "unsupported":
        entry = outcome.entry;
        round.unsupported ??= outcome.error;
        break;
      case "refused":
        entry = outcome.entry;
        round.refusals.push(outcome.refusal);
    }
  }
  await retryLater(parts, limits, entry, job, round);
}

/**
 * Returns the candidates in the order of this round, without those that no longer serve the model or accept no form of
 * its media. Returns the error if all of them are misconfigured.
 */
function candidatesOrError(parts: VideoParts, task: VideoTask): readonly Candidate[] | GatewayError {
  const { catalog, upstreams, breaker, random } = parts;
  const isPermitted = (provider: string) => task.providers?.includes(provider) ?? true;
  const serving = catalog.at(task.createdAt).find(task.model)?.serves
    .filter(({ provider }) => upstreams.has(provider) && isPermitted(provider)) ?? [];
  const able = serving.filter(({ provider }) => canTakeMedia(parts, task, upstreams.get(provider)!));
  try {
    // If no candidate is suitable any more, the first one's error applies.
    const candidates = forAcceptedWork(able.length > 0 ? able : serving, task.pin);
    return candidatesFor(candidates, task.pin, { breaker, accountId: task.account, random });
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

const UNSERVED: TaskError = { code: "route_error", message: "No provider serves the model any more" };

/**
 * Handles a round in which no candidate accepted the task. The task waits for another round if a candidate may accept
 * it later. It fails if the operator or the order must change, or if the retry period has ended.
 */
async function retryLater(
  parts: VideoParts,
  { creates }: SubmitLimits,
  entry: TaskEntry,
  job: Job,
  { refusals, fullProvider, unsupported, hasOpenCircuit }: Round,
): Promise<void> {
  const { store, random } = parts;
  const now = store.now();
  const { account, deadlineAt } = entry.value;
  const passing = refusals.filter((refusal) => !needsOperator(refusal));
  const isWaiting = hasOpenCircuit || (passing.length > 0 && isWithinRetryPeriod(entry.value, now));
  if (fullProvider === null && !isWaiting) {
    const refusal = mainRejection(refusals);
    return await failTask(parts, entry, job, refusal ? taskErrorOf(refusal) : unsupported ?? UNSERVED);
  }
  const isBackingOff = hasOpenCircuit || refusals.length > 0;
  const permitMs = fullProvider === null ? 0 : creates.retryDelayMs(fullProvider, account);
  const pauseMs = isBackingOff ? backoffMs(passing, job.attempt, random) : 0;
  const dueAt = laterBy(now, Math.min(Math.max(permitMs, pauseMs), deadlineAt - now));
  await store.commit(null, postponeSubmit({}, job, dueAt, isBackingOff ? job.attempt + 1 : job.attempt));
}
