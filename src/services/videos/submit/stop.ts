import type { JobHandler } from "../../../platform/store/job_runner.ts";
import { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import type { CancelOutcome } from "../../../vendors/upstreams/contract/video_upstream.ts";
import { postponeJob, readTask } from "../tasks/records.ts";
import type { SubmitLimits } from "./submit_limits.ts";
import type { VideoParts } from "../tasks/video_parts.ts";
import { laterBy } from "../../../platform/store/store_time.ts";

const MAX_ATTEMPTS = 5;
const MAX_BACKOFF_MS = 60_000;

/**
 * Creates the handler of jobs that cancel a vendor's job after its task ended: at the deadline, or because the vendor
 * confirmed it too late. A job that the vendor cannot cancel keeps running and is logged.
 */
export function stopHandler(parts: VideoParts, { stops }: SubmitLimits): JobHandler {
  const { store, upstreams, log } = parts;
  return async (job) => {
    const entry = await readTask(store, job.ref);
    if (!entry || entry.value.status === "pending" || entry.value.stage.step !== "submitted") {
      return void await store.commit(null, { completeJobs: [job] });
    }
    const { account, stage: { provider, job: handle } } = entry.value;
    using permit = stops.acquire(provider, account);
    if (permit === null) {
      return await postponeJob(store, job, laterBy(store.now(), stops.retryDelayMs(provider, account)), job.attempt);
    }
    let outcome: CancelOutcome | "unknown" = "too_late";
    try {
      outcome = await upstreams.get(provider)?.cancel?.(handle) ?? "too_late";
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      outcome = "unknown";
    }
    if (outcome === "unknown" && job.attempt + 1 < MAX_ATTEMPTS) {
      const waitMs = Math.min(2 ** job.attempt * 1_000, MAX_BACKOFF_MS);
      return await postponeJob(store, job, laterBy(store.now(), waitMs), job.attempt + 1);
    }
    if (outcome === "unknown" || outcome === "too_late") log.warn("video_left_running", { ref: job.ref, provider });
    await store.commit(null, { completeJobs: [job] });
  };
}
