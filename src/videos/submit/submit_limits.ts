import { UNLIMITED_MEMORY } from "../../lib/memory_budget.ts";
import { ConcurrencyLimiter } from "./concurrency_limiter.ts";
import { CreateMemory } from "../create/create_memory.ts";
import { UnrecordedJobs } from "./unrecorded_jobs.ts";
import type { VideoParts } from "../video_parts.ts";

/** What the calls share by which tasks get to vendors, and are stopped there: bounds, and what they found out. */
export interface SubmitLimits {
  /** Creates, each of which may take three minutes. */
  readonly creates: ConcurrencyLimiter;
  /** Searches for tasks whose creates were not answered. */
  readonly searches: ConcurrencyLimiter;
  /** Requests to stop work that nobody waits for. */
  readonly stops: ConcurrencyLimiter;
  readonly memory: CreateMemory;
  readonly unrecorded: UnrecordedJobs;
}

const MAX_CREATES_PER_PROVIDER = 64;
const MAX_SEARCHES_PER_PROVIDER = 16;
const MAX_STOPS_PER_PROVIDER = 16;
/** Jobs that call no vendor, which takes milliseconds. */
const MAX_OTHER_JOBS = 64;

/** The limits of one process, with nothing under way. */
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
 * How many submit jobs of a kind run at once: as many as all providers together can keep waiting, and some more. So
 * there is always one for the next task, even when no vendor answers.
 */
export function submitConcurrency({ upstreams }: Pick<VideoParts, "upstreams">): number {
  return upstreams.size * (MAX_CREATES_PER_PROVIDER + MAX_SEARCHES_PER_PROVIDER) + MAX_OTHER_JOBS;
}

/** The same of `video_stop` jobs. */
export function stopConcurrency({ upstreams }: Pick<VideoParts, "upstreams">): number {
  return upstreams.size * MAX_STOPS_PER_PROVIDER + MAX_OTHER_JOBS;
}
