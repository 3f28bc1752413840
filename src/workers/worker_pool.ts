import type { Clock } from "../lib/clock.ts";
import { FairQueue } from "../lib/fair_queue.ts";
import type { Log } from "../lib/log.ts";
import type { StartThread, WorkerThread } from "./worker_thread.ts";

/** What a pool is made with. */
export interface WorkerPoolOptions {
  /** For the log. */
  readonly name: string;
  readonly start: StartThread;
  /** The most threads. They start when there is work, and end when they have had none for `idleMs`. */
  readonly maxThreads: number;
  /** The most jobs that wait. */
  readonly maxQueued: number;
  /** The most jobs of one account that wait. */
  readonly maxQueuedPerAccount: number;
  /** Longest run of a job, from the moment a thread has it. */
  readonly jobMs: number;
  readonly idleMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Whose job it is, and until when it is wanted. */
export interface JobOptions {
  /** Accounts take turns. */
  readonly accountId: string;
  /** The result is not wanted any more once it fires. Default: it is wanted for ever. */
  readonly signal?: AbortSignal;
  /** Whether the job is taken also when the queue is full, because its result is owed. Default false. */
  readonly isRequired?: boolean;
}

/** Why there is no result. */
export type WorkerFailureKind =
  /** Too many jobs wait. */
  | "busy"
  /** The caller's signal fired, or the pool was closed. */
  | "cancelled"
  /** The job ran too long. */
  | "overran"
  /** The thread ended, for example because the job needed too much memory. */
  | "crashed"
  /** The job threw. */
  | "failed";

/** A job without a result. */
export class WorkerFailure extends Error {
  override readonly name = "WorkerFailure";

  constructor(readonly kind: WorkerFailureKind, message: string) {
    super(message);
  }
}

/** A job as a thread gets it. */
export interface JobMessage {
  readonly id: number;
  readonly job: unknown;
}

/** What a thread answers to a {@linkcode JobMessage}. */
export interface JobResult {
  readonly id: number;
  /** Present when the job succeeded. */
  readonly value?: unknown;
  /** The class of the error that the job threw. */
  readonly failure?: string;
}

/** After so many overruns within {@linkcode OVERRUN_WINDOW_MS} no further thread is started. */
const MAX_OVERRUNS = 4;
const OVERRUN_WINDOW_MS = 300_000;

interface Job {
  readonly message: JobMessage;
  readonly transfer: readonly ArrayBuffer[];
  readonly options: JobOptions;
  resolve(value: unknown): void;
  reject(error: WorkerFailure): void;
}

interface Member {
  readonly thread: WorkerThread;
  job: Job | null;
  stopTimer: () => void;
}

/**
 * Runs jobs in threads, one job at a time in each. Jobs wait in a bounded queue in which accounts take turns.
 *
 * A job that overruns is given up together with its thread, and another thread takes its place. The platform cannot
 * interrupt a running thread, so the given-up thread may go on for a while: jobs must be bounded by their input.
 */
export class WorkerPool {
  readonly #queue = new FairQueue<Job>();
  readonly #members = new Set<Member>();
  #overrunsAt: number[] = [];
  #nextId = 1;
  #isClosed = false;

  constructor(readonly options: WorkerPoolOptions) {}

  /** How many threads there are. */
  get threads(): number {
    return this.#members.size;
  }

  /** How many jobs wait for a thread. */
  get queued(): number {
    return this.#queue.size;
  }

  /**
   * Runs a job.
   *
   * @param job Few values: text and numbers, and bytes as `ArrayBuffer`.
   * @param transfer Buffers of the job that move to the thread. They are empty here afterwards.
   * @throws {WorkerFailure}
   */
  async run(job: unknown, options: JobOptions, transfer: readonly ArrayBuffer[] = []): Promise<unknown> {
    const { accountId, signal, isRequired: isOwed = false } = options;
    const { maxQueued, maxQueuedPerAccount } = this.options;
    if (this.#isClosed || signal?.aborted) throw new WorkerFailure("cancelled", "The job is not wanted any more");
    const isFull = this.#queue.size >= maxQueued || this.#queue.sizeOf(accountId) >= maxQueuedPerAccount;
    if (isFull && !isOwed) throw new WorkerFailure("busy", "Too many jobs wait");
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const queued: Job = { message: { id: this.#nextId++, job }, transfer, options, resolve, reject };
    const onAbort = () => this.#abandon(queued);
    signal?.addEventListener("abort", onAbort);
    this.#queue.push(accountId, queued);
    this.#startNext();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Ends all threads. Jobs under way and jobs that wait are cancelled. */
  close(): void {
    this.#isClosed = true;
    const error = new WorkerFailure("cancelled", "The gateway is shutting down");
    for (let job = this.#queue.shift(); job !== null; job = this.#queue.shift()) job.reject(error);
    for (const member of this.#members) {
      this.#remove(member);
      member.job?.reject(error);
    }
  }

  /** A job that runs goes on: its thread cannot be interrupted. */
  #abandon(job: Job): void {
    this.#queue.remove(job.options.accountId, job);
    job.reject(new WorkerFailure("cancelled", "The job is not wanted any more"));
  }

  #startNext(): void {
    while (this.#queue.size > 0) {
      const member = this.#freeMember();
      if (member === null) return;
      this.#give(member, this.#queue.shift()!);
    }
  }

  #freeMember(): Member | null {
    for (const member of this.#members) if (member.job === null) return member;
    if (this.#members.size >= this.options.maxThreads) return null;
    if (!this.#hasOverrunTooOften()) return this.#startMember();
    if (this.#members.size === 0) {
      const error = new WorkerFailure("busy", "Too many jobs overran");
      for (let job = this.#queue.shift(); job !== null; job = this.#queue.shift()) job.reject(error);
    }
    return null;
  }

  #startMember(): Member {
    const thread = this.options.start({
      onMessage: (message) => this.#finish(member, message as JobResult),
      onCrash: (reason) => this.#crash(member, reason),
    });
    const member: Member = { thread, job: null, stopTimer: () => {} };
    this.#members.add(member);
    return member;
  }

  #give(member: Member, job: Job): void {
    member.stopTimer();
    member.job = job;
    member.thread.setReferenced(true);
    member.thread.post(job.message, job.transfer);
    member.stopTimer = this.options.clock.after(this.options.jobMs, () => this.#overrun(member));
  }

  #finish(member: Member, { id, value, failure }: JobResult): void {
    const { job } = member;
    if (job?.message.id !== id) return;
    this.#rest(member);
    if (failure === undefined) job.resolve(value);
    else job.reject(new WorkerFailure("failed", failure));
    this.#startNext();
  }

  /** A thread without a job lets the process end, and ends itself after a while. */
  #rest(member: Member): void {
    member.stopTimer();
    member.job = null;
    member.thread.setReferenced(false);
    member.stopTimer = this.options.clock.after(this.options.idleMs, () => this.#remove(member));
  }

  #overrun(member: Member): void {
    const { clock, log, name, jobMs } = this.options;
    this.#overrunsAt.push(clock.now());
    log.error("worker_overran", { ref: name, accountId: member.job?.options.accountId, durationMs: jobMs });
    this.#remove(member);
    member.job?.reject(new WorkerFailure("overran", `The job took longer than ${jobMs} ms`));
    this.#startNext();
  }

  #crash(member: Member, reason: string): void {
    this.options.log.error("worker_crashed", {
      ref: this.options.name,
      accountId: member.job?.options.accountId,
      reason,
    });
    this.#remove(member);
    member.job?.reject(new WorkerFailure("crashed", "The thread ended before the job did"));
    this.#startNext();
  }

  #remove(member: Member): void {
    member.stopTimer();
    this.#members.delete(member);
    member.thread.setReferenced(false);
    member.thread.terminate();
  }

  #hasOverrunTooOften(): boolean {
    const since = this.options.clock.now() - OVERRUN_WINDOW_MS;
    this.#overrunsAt = this.#overrunsAt.filter((at) => at > since);
    return this.#overrunsAt.length >= MAX_OVERRUNS;
  }
}
