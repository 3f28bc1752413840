import type { Clock } from "../../platform/lib/basics/clock.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import type { JobHandler } from "../../platform/store/job_runner.ts";
import type { CommitResult, Job, Store } from "../../platform/store/store.ts";
import { makeAttempt, type PostEvent } from "./attempt.ts";
import type { AttemptLimiter } from "./attempt_limiter.ts";
import { afterAttempt, type AttemptEnd, type Delivery } from "./delivery.ts";
import { addAttempt, type DeliveryEntry, readDelivery, readMessage } from "./records.ts";
import { laterBy } from "../../platform/store/store_time.ts";

/** Dependencies of the job. */
export interface DeliverParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly post: PostEvent;
  readonly limiter: AttemptLimiter;
  /** Returns a uniform random number in [0, 1). */
  readonly random: () => number;
}

/**
 * Creates the handler of webhook jobs. It makes one attempt each time the job is due and reschedules the job in the
 * commit that records the attempt. A failure inside the gateway is not an attempt: the job runner reschedules the job.
 */
export function deliverHandler(parts: DeliverParts): JobHandler {
  const { store, limiter } = parts;
  return async (job, { signal }) => {
    const entry = await readDelivery(store, job.ref);
    if (entry?.value.state !== "pending") return await store.commit(null, { completeJobs: [job] });
    const permit = await limiter.acquire(entry.value, signal);
    if (!permit.isGranted) {
      const dueAt = laterBy(store.now(), permit.delayMs);
      return await store.commit(null, { postponeJobs: [{ job, dueAt, attempt: 0 }] });
    }
    let ended: AttemptEnd | null = null;
    try {
      ended = await attempt(parts, entry.value, signal);
    } finally {
      permit.release(ended?.attempt.durationMs ?? null);
    }
    return await record(parts, entry, job, ended);
  };
}

async function attempt(parts: DeliverParts, delivery: Delivery, signal: AbortSignal): Promise<AttemptEnd> {
  const { store, clock, post } = parts;
  const { body, secrets } = await readMessage(store, delivery);
  return await makeAttempt({ now: () => store.now(), clock, post, delivery, body, secrets, signal });
}

async function record(
  { store, log, random }: DeliverParts,
  entry: DeliveryEntry,
  job: Job,
  ended: AttemptEnd,
): Promise<CommitResult> {
  const { attempt } = ended;
  const after = afterAttempt(entry.value, ended, random);
  const result = await store.commit(null, addAttempt({}, entry, attempt, after, job));
  const fields = {
    ref: after.id,
    accountId: after.account,
    attempt: attempt.number,
    durationMs: attempt.durationMs,
    status: attempt.status ?? undefined,
    code: attempt.failure ?? undefined,
    reason: attempt.reason ?? undefined,
    state: after.state,
  };
  if (!result.ok) log.warn("webhook_attempt_unrecorded", fields); // another process has the job and retries it
  else if (after.state === "delivered") log.info("webhook_delivered", fields);
  else log.warn(after.state === "exhausted" ? "webhook_exhausted" : "webhook_attempt_failed", fields);
  return result;
}
