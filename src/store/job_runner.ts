/**
 * Runs due jobs. What a piece of work can come to:
 *
 *     claimed ─┬─ handler returns the commit that settled or postponed its job → done
 *              ├─ handler returns nothing → done; if it left its job open, that is put off like a failure
 *              ├─ handler throws ───────→ put off by min(2^attempt, 60) s, attempt + 1
 *              ├─ runs past `timeoutMs` → signal aborted, put off alike
 *              ├─ lease not renewed ────→ signal aborted before the lease ends, nothing written: the job is another's
 *              └─ drained ──────────────→ signal aborted, due at once, attempt unchanged
 *
 * Whatever is left undone here, a lease that ends makes the job due again, so no job is lost; and every write of a late
 * worker is refused by the epoch, so none is done twice.
 */
import type { Clock } from "../lib/clock.ts";
import type { Log, LogFields } from "../lib/log.ts";
import type { CommitResult, Job, Store } from "./store.ts";

/** What a handler is given beside its job. */
export interface JobContext {
  /** Aborted when the right to the job ends; what is committed after that is refused. */
  readonly signal: AbortSignal;
  /** How often the lease was renewed so far. */
  readonly renewals: number;
}

/**
 * Does one job and commits `settle` or `postpone` for it together with what it changed.
 *
 * @returns The result of that commit. Without it, the runner finds out by a commit of its own whether the job is still
 * open.
 */
export type JobHandler = (job: Job, context: JobContext) => Promise<CommitResult | void>;

/** What a runner needs. */
export interface JobRunnerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** By kind. Jobs of other kinds are left alone. */
  readonly handlers: Readonly<Record<string, JobHandler>>;
  /** How many jobs of a kind run at once; default 16. */
  readonly concurrency?: Readonly<Record<string, number>>;
  /** How long a lease lasts; it is renewed when a third of it has passed. Default 30 s. */
  readonly leaseMs?: number;
  /** How often to look for due jobs without being woken; default 5 s. */
  readonly pollMs?: number;
  /** How long one job may run before it counts as hung; default 15 min. */
  readonly timeoutMs?: number;
}

/** A running runner. */
export interface JobRunner {
  /** How many jobs are being worked on. */
  readonly running: number;
  /** Stops claiming, waits up to `graceMs` for what runs, gives back the rest. */
  drain(graceMs: number): Promise<void>;
}

/** Starts to claim and run due jobs. */
export function createJobRunner(options: JobRunnerOptions): JobRunner {
  return new Runner(options);
}

/** Whole milliseconds to put a failed job off: min(2^attempt, 60) s. */
export function jobBackoffMs(attempt: number): number {
  return Math.min(2 ** attempt, 60) * 1_000;
}

type Drop = "lost" | "hung" | "given_back";
type Outcome =
  | { readonly how: "closed" | "returned" | Drop }
  | { readonly how: "threw"; readonly error: unknown };

const GIVEN_BACK: Outcome = { how: "given_back" };

class Work {
  readonly controller = new AbortController();
  readonly #dropped = Promise.withResolvers<Outcome>();
  renewals = 0;

  /**
   * @param leaseEndsAt In monotonic milliseconds, no later than the store's own instant: whoever sets the machine's
   * clock neither ends a lease nor keeps it from being renewed.
   */
  constructor(readonly lane: Lane, public job: Job, public leaseEndsAt: number) {}

  /** Takes the job from its handler. */
  drop(how: Drop): void {
    this.#dropped.resolve({ how }); // before the signal, so that what the handler throws at it is not the outcome
    this.controller.abort(new Error(`The job is ${how.replace("_", " ")}`));
  }

  /** Runs the handler until it ends or is dropped. */
  run(handler: JobHandler): Promise<Outcome> {
    return Promise.race([this.#handle(handler), this.#dropped.promise]);
  }

  async #handle(handler: JobHandler): Promise<Outcome> {
    // deno-lint-ignore no-this-alias -- the context's getter has a `this` of its own
    const work = this;
    try {
      const result = await handler(this.job, {
        signal: this.controller.signal,
        get renewals() {
          return work.renewals;
        },
      });
      return { how: result && isClosed(result) ? "closed" : "returned" };
    } catch (error) {
      return { how: "threw", error };
    }
  }
}

/** The jobs of one kind. */
class Lane {
  readonly running = new Set<Work>();
  filling: Promise<void> | null = null;
  /** There may be due jobs that were not claimed. */
  mayHaveMore = true;

  constructor(readonly kind: string, readonly handler: JobHandler, readonly limit: number) {}
}

class Runner implements JobRunner {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #lanes: ReadonlyMap<string, Lane>;
  readonly #leaseMs: number;
  readonly #timeoutMs: number;
  readonly #works = new Map<Work, Promise<void>>();
  readonly #stops: (() => void)[] = [];
  #isDraining = false;

  constructor(options: JobRunnerOptions) {
    const { store, clock, log, handlers, concurrency = {}, leaseMs = 30_000, pollMs = 5_000 } = options;
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#leaseMs = leaseMs;
    this.#timeoutMs = options.timeoutMs ?? 15 * 60_000;
    const lanes = Object.entries(handlers).map(([kind, handler]) => new Lane(kind, handler, concurrency[kind] ?? 16));
    this.#lanes = new Map(lanes.map((lane) => [lane.kind, lane]));
    this.#stops.push(
      store.onWake((kind) => this.#wake(kind)),
      this.#every(pollMs, () => this.#wakeAll()),
      this.#every(leaseMs / 6, () => this.#renew()),
    );
    this.#wakeAll();
  }

  get running(): number {
    return this.#works.size;
  }

  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    this.#stops.splice(0, 2).forEach((stop) => stop()); // leases are renewed to the end
    if (graceMs > 0) await this.#idleWithin(graceMs);
    for (const work of this.#works.keys()) work.drop("given_back");
    await this.#idle();
    this.#stops.splice(0).forEach((stop) => stop());
  }

  async #idleWithin(graceMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = this.#clock.after(graceMs, resolve);
    await Promise.race([this.#idle(), promise]);
    stop();
  }

  async #idle(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.filling));
    await Promise.all(this.#works.values());
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
    for (const kind of this.#lanes.keys()) this.#wake(kind);
  }

  #wake(kind: string): void {
    const lane = this.#lanes.get(kind);
    if (!lane) return;
    lane.mayHaveMore = true;
    this.#fill(lane);
  }

  #fill(lane: Lane): void {
    if (lane.filling || !this.#canFill(lane)) return;
    lane.filling = this.#claimWhileThereIs(lane).finally(() => {
      lane.filling = null;
      this.#fill(lane); // for a wake that came after the last look
    });
  }

  #canFill(lane: Lane): boolean {
    return lane.mayHaveMore && lane.running.size < lane.limit && !this.#isDraining;
  }

  async #claimWhileThereIs(lane: Lane): Promise<void> {
    try {
      while (this.#canFill(lane)) {
        lane.mayHaveMore = false; // a wake that comes while we claim sets it again
        const free = lane.limit - lane.running.size;
        const leaseEndsAt = this.#clock.monotonicMs() + this.#leaseMs;
        const jobs = await this.#store.claim([lane.kind], free, this.#leaseMs);
        if (jobs.length === free) lane.mayHaveMore = true;
        for (const job of jobs) this.#begin(new Work(lane, job, leaseEndsAt));
      }
    } catch (error) {
      this.#log.error("job_claim_failed", { jobKind: lane.kind, reason: reasonOf(error) });
    }
  }

  #begin(work: Work): void {
    work.lane.running.add(work);
    const stopTimeout = this.#clock.after(this.#timeoutMs, () => work.drop("hung"));
    const outcome = this.#isDraining ? Promise.resolve(GIVEN_BACK) : work.run(work.lane.handler);
    const done = outcome.then((outcome) => this.#end(work, outcome)).finally(() => {
      stopTimeout();
      work.lane.running.delete(work);
      this.#works.delete(work);
      this.#fill(work.lane);
    });
    this.#works.set(work, done);
  }

  async #end({ job }: Work, outcome: Outcome): Promise<void> {
    if (outcome.how === "closed") return;
    const fields = { jobKind: job.kind, ref: job.ref, attempt: job.attempt };
    if (outcome.how === "lost") return this.#log.warn("job_lease_lost", fields);
    const later = { dueAt: this.#clock.now() + jobBackoffMs(job.attempt), attempt: job.attempt + 1 };
    if (outcome.how === "threw") this.#log.warn("job_failed", { ...fields, reason: reasonOf(outcome.error) });
    if (outcome.how === "hung") this.#log.error("job_hung", { ...fields, durationMs: this.#timeoutMs });
    const again = outcome.how === "given_back" ? { dueAt: this.#clock.now(), attempt: job.attempt } : later;
    const wasOpen = await this.#postpone(job, again, fields);
    if (wasOpen && outcome.how === "returned") this.#log.error("job_left_open", fields);
  }

  /** Puts a job off; false if it was not ours any more, as when its handler settled it. */
  async #postpone(job: Job, again: { dueAt: number; attempt: number }, fields: LogFields): Promise<boolean> {
    try {
      const { ok } = await this.#store.commit(null, { postponeJobs: [{ job, ...again }] });
      return ok;
    } catch (error) {
      this.#log.error("job_postpone_failed", { ...fields, reason: reasonOf(error) }); // due again when its lease ends
      return false;
    }
  }

  // Called six times a lease: tries from a third of it on, and drops the work with a sixth to go.
  async #renew(): Promise<void> {
    const works = [...this.#works.keys()].filter((work) => this.#leftOf(work) <= this.#leaseMs * 2 / 3);
    for (const work of works) if (this.#leftOf(work) <= this.#leaseMs / 6) work.drop("lost");
    const kept = works.filter((work) => !work.controller.signal.aborted);
    if (kept.length === 0) return;
    try {
      const leaseEndsAt = this.#clock.monotonicMs() + this.#leaseMs;
      const renewed = await this.#store.renew(kept.map(({ job }) => job), this.#leaseMs);
      const byId = new Map(renewed.map((job) => [job.id, job]));
      for (const work of kept) this.#noteRenewal(work, byId.get(work.job.id), leaseEndsAt);
    } catch (error) {
      this.#log.warn("job_renew_failed", { count: kept.length, reason: reasonOf(error) });
    }
  }

  #noteRenewal(work: Work, renewed: Job | undefined, leaseEndsAt: number): void {
    if (!this.#works.has(work)) return;
    if (!renewed) return work.drop("lost");
    work.job = renewed;
    work.leaseEndsAt = leaseEndsAt;
    work.renewals++;
  }

  #leftOf({ leaseEndsAt }: Work): number {
    return leaseEndsAt - this.#clock.monotonicMs();
  }
}

/** Whether a job is no longer its worker's after a commit that was to settle or postpone it. */
function isClosed(result: CommitResult): boolean {
  return result.ok || result.why === "fenced";
}

function reasonOf(error: unknown): string {
  return error instanceof Error
    ? `${error.name}: ${error.message.slice(0, 200)}`
    : "something that is no error was thrown";
}
