import { UNLIMITED_MEMORY } from "../../../platform/lib/process/memory_budget.ts";
import { ConcurrencyLimiter } from "./concurrency_limiter.ts";
import { CreateMemory } from "../create/create_memory.ts";
import { UnrecordedJobs } from "./unrecorded_jobs.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/** Shared limits and caches of the calls that submit and cancel tasks. */
export interface SubmitLimits {
  /** Create calls, each of which may take three minutes. */
  readonly creates: ConcurrencyLimiter;
  /** Searches for tasks whose create call got no response. */
  readonly searches: ConcurrencyLimiter;
  /** Requests to cancel a vendor's job after its task ended. */
  readonly stops: ConcurrencyLimiter;
  readonly memory: CreateMemory;
  readonly unrecorded: UnrecordedJobs;
}

const MAX_CREATES_PER_PROVIDER = 64;
const MAX_SEARCHES_PER_PROVIDER = 16;
const MAX_STOPS_PER_PROVIDER = 16;
/** Jobs that call no vendor, which take milliseconds. */
const MAX_OTHER_JOBS = 64;

/** Creates the limits of one process. */
export function createSubmitLimits({ memory, clock }: Pick<VideoParts, "memory" | "clock">): SubmitLimits {
  return {
    creates: new ConcurrencyLimiter(MAX_CREATES_PER_PROVIDER, clock),
    searches: new ConcurrencyLimiter(MAX_SEARCHES_PER_PROVIDER, clock),
    stops: new ConcurrencyLimiter(MAX_STOPS_PER_PROVIDER, clock),
    memory: new CreateMemory(memory ?? UNLIMITED_MEMORY),
    unrecorded: new UnrecordedJobs(),
  };
}

/**
 * Returns the number of concurrent submit jobs of a kind: more than all providers together can keep waiting. One is
 * therefore always free for the next task, even if no vendor responds.
 */
export function submitConcurrency({ upstreams }: Pick<VideoParts, "upstreams">): number {
  return upstreams.size * (MAX_CREATES_PER_PROVIDER + MAX_SEARCHES_PER_PROVIDER) + MAX_OTHER_JOBS;
}

/** Returns the number of concurrent `video_stop` jobs by the same rule. */
export function stopConcurrency({ upstreams }: Pick<VideoParts, "upstreams">): number {
  return upstreams.size * MAX_STOPS_PER_PROVIDER + MAX_OTHER_JOBS;
}
