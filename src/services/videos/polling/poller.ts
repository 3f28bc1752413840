import { holdState } from "../../../platform/lib/basics/held.ts";
import type { JobRunner } from "../../../platform/store/job_runner.ts";
import type { Job } from "../../../platform/store/store.ts";
import { answerHandler } from "./poll.ts";
import { type PollLoad, ProviderPolls } from "./provider_polls.ts";
import { readTasks, type VideoJobKind } from "../tasks/records.ts";
import type { VideoParts } from "../tasks/video_parts.ts";
import { firstPollAt, type WatchedTask, watchedTaskOf } from "./watched_task.ts";

/**
 * Polls vendors for submitted tasks. Each such task has one job, `video_poll`. The poller leases it once for a long
 * time, keeps the data for polls in memory, and completes the job in the commit that ends the task:
 *
 *     submitted ──→ job due at once ──→ leased, watched ──→ polled … polled ──→ terminal commit completes the job
 *                          ▲                    │
 *                          └── process is gone ─┘   the lease ends, or the next open of the store frees it
 *
 * A poll without news therefore needs no store operation, and no task is lost when a process is killed.
 */
export interface Poller {
  /** Starts watching and polling; draining the runner returns the jobs. */
  start(): JobRunner;
  /** Claims due jobs and polls all due tasks once, within the rate limits. Returns the number of polled tasks. */
  pollDue(): Promise<number>;
  /** The vendor reported a change of a task: it is polled soon, unless that happens too often. */
  onCallback(taskId: string): void;
  /**
   * Marks a task as being cancelled. Until the returned value is disposed of, only the cancel records that the vendor
   * cancelled it.
   */
  holdForCancel(taskId: string): Disposable;
  /** Ends polling of a task that its caller ended. */
  release(taskId: string): Promise<void>;
  /** How the jobs at a provider are polled; null if this process has polled none of them. */
  loadOf(provider: string): PollLoad | null;
}

/** Creates a poller; it does nothing until it is started. */
export function createPoller(parts: VideoParts): Poller {
  return new TaskPoller(parts);
}

const POLL_JOB: VideoJobKind = "video_poll";
/**
 * The lease in a store of one process. It is long, because thousands of leases are renewed. Leases of a killed process
 * do not delay tasks: the next open of the store frees them.
 */
const LEASE_MS = 600_000;
/** A lease is renewed so often while it lasts. */
const RENEWALS = 4;
/** Announces the callback of a vendor for a task, which another process polls. */
const CALLBACK_PREFIX = "video_callback ";
/** Interval between checks for jobs without a wake-up. */
const CLAIM_EVERY_MS = 5_000;
/** Small enough that reading the tasks takes the main thread only a few milliseconds. */
const CLAIMED_AT_ONCE = 50;
/** How long a task waits after its deadline for its last poll, which a pause or rate limit may delay. */
const OVERDUE_MS = 10_000;
const GIVEN_BACK_AT_ONCE = 30;

class TaskPoller implements Poller {
  readonly #parts: VideoParts;
  readonly #watched = new Map<string, WatchedTask>();
  readonly #providers = new Map<string, ProviderPolls>();
  /** Number of running cancels by task id. */
  readonly #held = new Map<string, number>();
  readonly #onAnswer;
  #claiming: Promise<void> | null = null;
  #mayHaveMore = false;
  #isStarted = false;
  #isDraining = false;
  #isRenewing = false;
  readonly #leaseMs: number;
  readonly #stops: (() => void)[] = [];

  constructor(parts: VideoParts) {
    this.#parts = parts;
    this.#leaseMs = parts.store.jobLeaseMs ?? LEASE_MS;
    this.#onAnswer = answerHandler(parts, (taskId) => this.#held.has(taskId));
  }

  start(): JobRunner {
    const { store } = this.#parts;
    this.#isStarted = true;
    for (const polls of this.#providers.values()) polls.start();
    this.#stops.push(
      store.onWake((kind) => {
        if (kind === POLL_JOB) holdState(this.#claim(), "jobs of polls");
        else if (kind.startsWith(CALLBACK_PREFIX)) this.#pollSoon(kind.slice(CALLBACK_PREFIX.length));
      }),
      this.#every(CLAIM_EVERY_MS, async () => {
        await Promise.all([this.#claim(), this.#endOverdue()]);
      }),
      this.#every(this.#leaseMs / RENEWALS, () => this.#renewOnce()),
    );
    holdState(this.#claim(), "jobs of polls");
    // deno-lint-ignore no-this-alias -- the runner's getter has a `this` of its own
    const poller = this;
    return {
      get running() {
        return poller.#running;
      },
      drain: (graceMs) => poller.#drain(graceMs),
    };
  }

  async pollDue(): Promise<number> {
    await this.#claim();
    const counts = await Promise.all([...this.#providers.values()].map((polls) => polls.pollDue()));
    await this.#endOverdue();
    return counts.reduce((sum, count) => sum + count, 0);
  }

  onCallback(taskId: string): void {
    if (!this.#pollSoon(taskId)) this.#parts.store.announce?.(CALLBACK_PREFIX + taskId);
  }

  /** Returns whether this process polls the task. */
  #pollSoon(taskId: string): boolean {
    const task = this.#watched.get(taskId);
    if (task) this.#pollsOf(task.provider).onCallback(task);
    return task !== undefined;
  }

  holdForCancel(taskId: string): Disposable {
    this.#held.set(taskId, (this.#held.get(taskId) ?? 0) + 1);
    return {
      [Symbol.dispose]: () => {
        const left = this.#held.get(taskId)! - 1;
        if (left > 0) this.#held.set(taskId, left);
        else this.#held.delete(taskId);
      },
    };
  }

  async release(taskId: string): Promise<void> {
    const task = this.#watched.get(taskId);
    if (!task) return; // its job is completed when it is claimed
    this.#forget(task);
    await this.#settle([task.job]);
  }

  get #running(): number {
    return [...this.#providers.values()].reduce((sum, { running }) => sum + running, 0);
  }

  #claim(): Promise<void> {
    this.#mayHaveMore = true;
    return this.#claiming ??= this.#claimAll().finally(() => this.#claiming = null);
  }

  async #claimAll(): Promise<void> {
    const { store, log } = this.#parts;
    try {
      while (this.#mayHaveMore && !this.#isDraining) {
        this.#mayHaveMore = false; // a wake-up during the claim sets it again
        const jobs = await store.claim([POLL_JOB], CLAIMED_AT_ONCE, this.#leaseMs);
        if (jobs.length === CLAIMED_AT_ONCE) this.#mayHaveMore = true;
        await this.#watchAll(jobs);
      }
    } catch (error) {
      log.error("job_claim_failed", { jobKind: POLL_JOB, reason: String(error).slice(0, 200) });
    }
  }

  async #watchAll(jobs: readonly Job[]): Promise<void> {
    const { store } = this.#parts;
    const unwatched: Job[] = [];
    for (const job of jobs) {
      const known = this.#watched.get(job.ref);
      if (known) known.job = job; // the lease had expired
      else unwatched.push(job);
    }
    const tasks = new Map((await readTasks(store, unwatched.map(({ ref }) => ref))).map((task) => [task.id, task]));
    const moment = { monotonicMs: this.#parts.clock.monotonicMs(), unixMs: store.now() };
    const settled = unwatched.filter((job) => {
      const task = tasks.get(job.ref);
      const watched = task ? watchedTaskOf(task, job, moment) : null;
      if (watched) this.#watch(watched);
      return watched === null;
    });
    await this.#settle(settled);
  }

  #watch(task: WatchedTask): void {
    const { settings, random } = this.#parts;
    this.#watched.set(task.id, task);
    this.#pollsOf(task.provider).add(task, firstPollAt(task, settings.polling, random));
  }

  async #endOverdue(): Promise<void> {
    const before = this.#parts.clock.monotonicMs() - OVERDUE_MS;
    for (const task of this.#watched.values()) {
      if (task.deadlineAt < before) await this.#pollsOf(task.provider).expire(task);
    }
  }

  loadOf(provider: string): PollLoad | null {
    const polls = this.#providers.get(provider);
    if (polls === undefined) return null;
    let tasks = 0;
    for (const task of this.#watched.values()) if (task.provider === provider) tasks++;
    return polls.loadOf(tasks);
  }

  #forget(task: WatchedTask): void {
    this.#watched.delete(task.id);
    this.#pollsOf(task.provider).remove(task);
  }

  #pollsOf(provider: string): ProviderPolls {
    const known = this.#providers.get(provider);
    if (known) return known;
    const { upstreams, clock, log, settings } = this.#parts;
    const polls = new ProviderPolls({
      provider,
      get upstream() {
        return upstreams.get(provider);
      },
      schedule: settings.polling,
      clock,
      log,
      onAnswer: this.#onAnswer,
      onDone: ({ id }) => void this.#watched.delete(id),
    });
    this.#providers.set(provider, polls);
    if (this.#isStarted && !this.#isDraining) polls.start();
    return polls;
  }

  /** Completes jobs that need no work. A job that is not completed returns when its lease ends. */
  async #settle(jobs: readonly Job[]): Promise<void> {
    const { store, log } = this.#parts;
    for (const job of jobs) {
      await store.commit(null, { completeJobs: [job] }).catch((error) => {
        log.warn("job_settle_failed", { jobKind: POLL_JOB, ref: job.ref, reason: String(error).slice(0, 200) });
      });
    }
  }

  /** A slow store gets one renewal at a time. */
  async #renewOnce(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    await this.#renew();
    this.#isRenewing = false;
  }

  async #renew(): Promise<void> {
    const { store, log } = this.#parts;
    const tasks = [...this.#watched.values()];
    try {
      const renewed = new Map(
        (await store.renew(tasks.map(({ job }) => job), this.#leaseMs)).map((job) => [job.id, job]),
      );
      for (const task of tasks) {
        const job = renewed.get(task.job.id);
        if (job) task.job = job;
        else if (this.#watched.get(task.id) === task) this.#lose(task);
      }
    } catch (error) {
      log.warn("job_renew_failed", { count: tasks.length, reason: String(error).slice(0, 200) });
    }
  }

  #lose(task: WatchedTask): void {
    this.#parts.log.warn("job_lease_lost", { jobKind: POLL_JOB, ref: task.id });
    this.#forget(task);
  }

  #every(intervalMs: number, callback: () => Promise<void>): () => void {
    const { clock } = this.#parts;
    let stop = () => {};
    const again = () => {
      stop = clock.after(intervalMs, () => {
        again();
        holdState(callback(), "jobs of polls");
      });
    };
    again();
    return () => stop();
  }

  async #drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    for (const stop of this.#stops.splice(0)) stop();
    for (const polls of this.#providers.values()) polls.stop();
    await this.#claiming;
    await this.#idleWithin(graceMs);
    const jobs = [...this.#watched.values()].map((task) => {
      this.#forget(task);
      return task.job;
    });
    for (let i = 0; i < jobs.length; i += GIVEN_BACK_AT_ONCE) {
      await this.#giveBack(jobs.slice(i, i + GIVEN_BACK_AT_ONCE));
    }
  }

  async #idleWithin(graceMs: number): Promise<void> {
    const { clock } = this.#parts;
    const endsAt = clock.monotonicMs() + graceMs;
    while (this.#running > 0 && clock.monotonicMs() < endsAt) {
      await new Promise<void>((resolve) => void clock.after(IDLE_LOOK_MS, resolve));
    }
  }

  async #giveBack(jobs: readonly Job[]): Promise<void> {
    const { store, log } = this.#parts;
    const postpone = jobs.map((job) => ({ job, dueAt: store.now(), attempt: job.attempt }));
    try {
      const { ok } = await store.commit(null, { postponeJobs: postpone });
      // A commit fails as a whole if another process has one of the jobs.
      if (!ok && jobs.length > 1) { for (const job of jobs) await this.#giveBack([job]); }
    } catch (error) {
      log.warn("job_postpone_failed", { jobKind: POLL_JOB, count: jobs.length, reason: String(error).slice(0, 200) });
    }
  }
}

const IDLE_LOOK_MS = 20;
