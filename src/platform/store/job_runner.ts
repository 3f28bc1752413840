/**
 * Claims due jobs and runs their handlers. The outcomes of one run:
 *
 *     claimed ─┬─ handler returns the commit that completed or postponed its job → done
 *              ├─ handler returns nothing → done; a job that is still open is postponed as after a failure
 *              ├─ handler throws ───────→ postponed by min(2^attempt, 60) s, attempt + 1
 *              ├─ runs past `timeoutMs` → signal aborted, postponed as after a failure
 *              ├─ lease not renewed ────→ signal aborted before the lease ends, nothing written: another worker may
 *              have the job └─ drained ──────────────→ signal aborted, due at once, attempt unchanged
 *
 * A job that is neither completed nor postponed is due again when its lease ends, so no job is lost. The epoch of the
 * job refuses all writes of a late worker, so no job is done twice.
 */
import { type Clock, waitAtMost } from "../lib/basics/clock.ts";
import { holdState } from "../lib/basics/held.ts";
import type { Log, LogFields } from "../lib/basics/log.ts";
import { markWork } from "../lib/process/own_heartbeat.ts";
import type { CommitResult, Job, JobStore } from "./store.ts";
import { laterBy, type StoreTime } from "./store_time.ts";

/** What a handler gets in addition to its job. */
export interface JobContext {
  /** Aborted when the lease ends; later commits for the job are refused. */
  readonly signal: AbortSignal;
  /** How often the lease was renewed so far. */
  readonly renewals: number;
}

/**
 * Does one job. The handler commits `completeJobs` or `postponeJobs` together with its other changes.
 *
 * @returns The result of that commit. Without it, the runner makes a commit of its own to find out whether the job is
 * still open.
 */
export type JobHandler = (job: Job, context: JobContext) => Promise<CommitResult | void>;

/** The dependencies and settings of a runner. */
export interface JobRunnerOptions {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly log: Log;
  /** By kind of job. Other kinds are not claimed. */
  readonly handlers: Readonly<Record<string, JobHandler>>;
  /** The maximum number of running jobs per kind. Default 16. */
  readonly concurrency?: Readonly<Record<string, number>>;
  /** The duration of a lease; it is renewed within three tenths of it. Default: that of the store, or 30 s. */
  readonly leaseMs?: number;
  /** The interval of checks for due jobs without a wake-up. Default 5 s. */
  readonly pollMs?: number;
  /** The longest run of one job before it is aborted as hung. Default 15 min. */
  readonly timeoutMs?: number;
}

/** A job runner that was started. */
export interface JobRunner {
  /** The number of running jobs. */
  readonly running: number;
  /** Stops claiming, waits up to `graceMs` for running jobs, and makes the remaining jobs due at once. */
  drain(graceMs: number): Promise<void>;
}

/** Starts to claim and run due jobs. */
export function createJobRunner(options: JobRunnerOptions): JobRunner {
  return new Runner(options);
}

/** The delay before a failed job is due again, in whole milliseconds: min(2^attempt, 60) s. */
export function jobBackoffMs(attempt: number): number {
  return Math.min(2 ** attempt, 60) * 1_000;
}

const DEFAULT_LEASE_MS = 30_000;
/** A lease is renewed before so much of it has passed: 3 of 10 seconds. */
const RENEW_SHARE = 0.3;
/** The leases are looked at so often, as a share of their duration. */
const LOOK_SHARE = 0.1;

type StopReason = "lost" | "hung" | "released";
type Outcome =
  | { readonly how: "closed" | "returned" | StopReason }
  | { readonly how: "threw"; readonly error: unknown };

const RELEASED: Outcome = { how: "released" };

class RunningJob {
  readonly controller = new AbortController();
  readonly #stopped = Promise.withResolvers<Outcome>();
  renewals = 0;

  /**
   * @param leaseEndsAt Monotonic milliseconds, not later than the end of the lease in the store. A change of the system
   * clock neither ends the lease nor prevents its renewal.
   */
  constructor(readonly queue: JobQueue, public job: Job, public leaseEndsAt: number) {}

  /** Ends the run of the handler from outside. */
  stop(how: StopReason): void {
    this.#stopped.resolve({ how }); // before the signal, so that an error thrown because of the signal is not the outcome
    this.controller.abort(new Error(`The job is ${how}`));
  }

  /** Runs the handler until it ends or {@linkcode RunningJob.stop} is called. */
  run(handler: JobHandler): Promise<Outcome> {
    return Promise.race([this.#handle(handler), this.#stopped.promise]);
  }

  async #handle(handler: JobHandler): Promise<Outcome> {
    // deno-lint-ignore no-this-alias -- the context's getter has a `this` of its own
    const running = this;
    markWork("job", this.job.ref, this.job.kind);
    try {
      const result = await handler(this.job, {
        signal: this.controller.signal,
        get renewals() {
          return running.renewals;
        },
      });
      return { how: result && isClosed(result) ? "closed" : "returned" };
    } catch (error) {
      return { how: "threw", error };
    }
  }
}

/** The running jobs of one kind. */
class JobQueue {
  readonly running = new Set<RunningJob>();
  filling: Promise<void> | null = null;
  /** Whether there may be due jobs that were not claimed. */
  mayHaveMore = true;

  constructor(readonly kind: string, readonly handler: JobHandler, readonly limit: number) {}
}

class Runner implements JobRunner {
  readonly #store: JobStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #queues: ReadonlyMap<string, JobQueue>;
  readonly #leaseMs: number;
  readonly #timeoutMs: number;
  readonly #jobs = new Map<RunningJob, Promise<void>>();
  readonly #stops: (() => void)[] = [];
  #isDraining = false;

  constructor(options: JobRunnerOptions) {
    const { store, clock, log, handlers, concurrency = {}, pollMs = 5_000 } = options;
    const leaseMs = options.leaseMs ?? store.jobLeaseMs ?? DEFAULT_LEASE_MS;
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#leaseMs = leaseMs;
    this.#timeoutMs = options.timeoutMs ?? 15 * 60_000;
    const queues = Object.entries(handlers).map(([kind, handler]) =>
      new JobQueue(kind, handler, concurrency[kind] ?? 16)
    );
    this.#queues = new Map(queues.map((queue) => [queue.kind, queue]));
    this.#stops.push(
      store.onWake((kind) => this.#wake(kind)),
      this.#every(pollMs, () => this.#wakeAll()),
      this.#every(leaseMs * LOOK_SHARE, () => holdState(this.#renew(), "leases of jobs")),
    );
    this.#wakeAll();
  }

  get running(): number {
    return this.#jobs.size;
  }

  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    this.#stops.splice(0, 2).forEach((stop) => stop()); // leases are still renewed while jobs run
    if (graceMs > 0) await waitAtMost(this.#clock, graceMs, this.#idle());
    for (const running of this.#jobs.keys()) running.stop("released");
    await this.#idle();
    this.#stops.splice(0).forEach((stop) => stop());
  }

  async #idle(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.filling));
    await Promise.all(this.#jobs.values());
  }

  #every(intervalMs: number, callback: () => void): () => void {
    let stop = () => {};
    const again = () => {
      stop = this.#clock.after(intervalMs, () => {
        again();
        callback();
      });
    };
    again();
    return () => stop();
  }

  #wakeAll(): void {
    for (const kind of this.#queues.keys()) this.#wake(kind);
  }

  #wake(kind: string): void {
    const queue = this.#queues.get(kind);
    if (!queue) return;
    queue.mayHaveMore = true;
    this.#fill(queue);
  }

  #fill(queue: JobQueue): void {
    if (queue.filling || !this.#canFill(queue)) return;
    queue.filling = this.#claimAll(queue).finally(() => {
      queue.filling = null;
      this.#fill(queue); // for a wake-up after the last claim
    });
  }

  #canFill(queue: JobQueue): boolean {
    return queue.mayHaveMore && queue.running.size < queue.limit && !this.#isDraining;
  }

  async #claimAll(queue: JobQueue): Promise<void> {
    try {
      while (this.#canFill(queue)) {
        queue.mayHaveMore = false; // a wake-up during the claim sets it again
        const free = queue.limit - queue.running.size;
        const leaseEndsAt = this.#clock.monotonicMs() + this.#leaseMs;
        const jobs = await this.#store.claim([queue.kind], free, this.#leaseMs);
        if (jobs.length === free) queue.mayHaveMore = true;
        for (const job of jobs) this.#begin(new RunningJob(queue, job, leaseEndsAt));
      }
    } catch (error) {
      this.#log.error("job_claim_failed", { jobKind: queue.kind, reason: reasonOf(error) });
    }
  }

  #begin(running: RunningJob): void {
    running.queue.running.add(running);
    const stopTimeout = this.#clock.after(this.#timeoutMs, () => running.stop("hung"));
    const outcome = this.#isDraining ? Promise.resolve(RELEASED) : running.run(running.queue.handler);
    const done = outcome.then((outcome) => this.#end(running, outcome)).finally(() => {
      stopTimeout();
      running.queue.running.delete(running);
      this.#jobs.delete(running);
      this.#fill(running.queue);
    });
    this.#jobs.set(running, done);
  }

  async #end({ job }: RunningJob, outcome: Outcome): Promise<void> {
    if (outcome.how === "closed") return;
    const fields = { jobKind: job.kind, ref: job.ref, attempt: job.attempt };
    if (outcome.how === "lost") return this.#log.warn("job_lease_lost", fields);
    const later = { dueAt: laterBy(this.#store.now(), jobBackoffMs(job.attempt)), attempt: job.attempt + 1 };
    if (outcome.how === "threw") this.#log.warn("job_failed", { ...fields, reason: reasonOf(outcome.error) });
    if (outcome.how === "hung") this.#log.error("job_hung", { ...fields, durationMs: this.#timeoutMs });
    const again = outcome.how === "released" ? { dueAt: this.#store.now(), attempt: job.attempt } : later;
    const wasOpen = await this.#postpone(job, again, fields);
    if (wasOpen && outcome.how === "returned") this.#log.error("job_left_open", fields);
  }

  /**
   * Postpones a job. Returns false if the worker did not hold the job any more, for example because its handler
   * completed it.
   */
  async #postpone(job: Job, again: { dueAt: StoreTime; attempt: number }, fields: LogFields): Promise<boolean> {
    try {
      const { ok } = await this.#store.commit(null, { postponeJobs: [{ job, ...again }] });
      return ok;
    } catch (error) {
      this.#log.error("job_postpone_failed", { ...fields, reason: reasonOf(error) }); // the job is due again when its lease ends
      return false;
    }
  }

  // Renews the leases that would else be older than the share at the next look. Stops a job when only a sixth of its
  // lease is left.
  async #renew(): Promise<void> {
    const leftMs = this.#leaseMs * (1 - RENEW_SHARE + LOOK_SHARE);
    const jobs = [...this.#jobs.keys()].filter((running) => this.#leftOf(running) <= leftMs);
    for (const running of jobs) if (this.#leftOf(running) <= this.#leaseMs / 6) running.stop("lost");
    const kept = jobs.filter((running) => !running.controller.signal.aborted);
    if (kept.length === 0) return;
    try {
      const leaseEndsAt = this.#clock.monotonicMs() + this.#leaseMs;
      const renewed = await this.#store.renew(kept.map(({ job }) => job), this.#leaseMs);
      const byId = new Map(renewed.map((job) => [job.id, job]));
      for (const running of kept) this.#noteRenewal(running, byId.get(running.job.id), leaseEndsAt);
    } catch (error) {
      this.#log.warn("job_renew_failed", { count: kept.length, reason: reasonOf(error) });
    }
  }

  #noteRenewal(running: RunningJob, renewed: Job | undefined, leaseEndsAt: number): void {
    if (!this.#jobs.has(running)) return;
    if (!renewed) return running.stop("lost");
    running.job = renewed;
    running.leaseEndsAt = leaseEndsAt;
    running.renewals++;
  }

  #leftOf({ leaseEndsAt }: RunningJob): number {
    return leaseEndsAt - this.#clock.monotonicMs();
  }
}

/** Whether a worker does not hold a job any more after a commit that was to complete or postpone it. */
function isClosed(result: CommitResult): boolean {
  return result.ok || result.why === "fenced";
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message.slice(0, 200)}` : "the thrown value is not an error";
}
