import type { Clock } from "../lib/basics/clock.ts";
import { FairQueue } from "../lib/collections/fair_queue.ts";
import type { ThreadKind } from "../lib/process/heartbeats.ts";
import { errorName, type Log } from "../lib/basics/log.ts";
import { type ThreadModule, threadModule } from "../lib/process/program_files.ts";
import {
  type StartThread,
  THREAD_IDLE_MS,
  threadStarter,
  ThreadUnavailable,
  type WorkerThread,
} from "./worker_thread.ts";

/** What the work of one kind of thread is made with. */
export interface ThreadWorkOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Starts a thread; replaced in tests. Default: threads that run the entry module of the work. */
  readonly start?: StartThread;
}

/** Options of {@linkcode WorkerPool}. */
export interface WorkerPoolOptions {
  /** The name in the log. */
  readonly name: string;
  readonly start: StartThread;
  /** The maximum number of threads. They start on demand and end after `idleMs` without work. */
  readonly maxThreads: number;
  /** The most jobs that wait. */
  readonly maxQueued: number;
  /** The most jobs of one account that wait. */
  readonly maxQueuedPerAccount: number;
  /** The time limit of a job, measured from its start in a thread. */
  readonly jobMs: number;
  readonly idleMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** The account of a job, and how long its result is needed. */
export interface JobOptions {
  /** Accounts are served round-robin. */
  readonly accountId: string;
  /** Cancels the job. Default: the job is never cancelled. */
  readonly signal?: AbortSignal;
  /** Whether the job is accepted even if the queue is full, because its result is required. Default false. */
  readonly isRequired?: boolean;
}

/** Why a job has no result. */
export type WorkerFailureKind =
  /** The queue is full. */
  | "busy"
  /** The caller's signal fired, or the pool was closed. */
  | "cancelled"
  /** The job exceeded its time limit. */
  | "overran"
  /** The thread ended, for example because the job needed too much memory. */
  | "crashed"
  /** The job threw an error. */
  | "failed";

/** A job that ended without a result. */
export class WorkerFailure extends Error {
  override readonly name = "WorkerFailure";

  constructor(readonly kind: WorkerFailureKind, message: string) {
    super(message);
  }
}

/** A job as sent to a thread. */
export interface JobMessage<Job = unknown> {
  readonly id: number;
  readonly job: Job;
}

/** A thread's reply to a {@linkcode JobMessage}. */
export interface JobResult {
  readonly id: number;
  /** Set if the job succeeded. */
  readonly value?: unknown;
  /** The class of the error that the job threw. */
  readonly failure?: string;
}

/** After this many overruns within {@linkcode OVERRUN_WINDOW_MS}, no further thread is started. */
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
 * Runs jobs in threads, one job at a time per thread. Jobs are queued up to a limit, and accounts are served
 * round-robin.
 *
 * A job that exceeds its time limit is abandoned with its thread, and another thread replaces it. The platform cannot
 * interrupt a running thread, so an abandoned thread may continue for a while. The input must bound the work of a job.
 */
export class WorkerPool {
  readonly #queue = new FairQueue<Job>();
  readonly #members = new Set<Member>();
  #overrunsAt: number[] = [];
  #nextId = 1;
  #isClosed = false;

  constructor(readonly options: WorkerPoolOptions) {}

  /** The number of threads. */
  get threads(): number {
    return this.#members.size;
  }

  /** The number of jobs that wait for a thread. */
  get queued(): number {
    return this.#queue.size;
  }

  /**
   * Runs a job.
   *
   * @param job Text, numbers, and bytes as `ArrayBuffer`. Few values, since each is copied.
   * @param transfer Buffers of the job that move to the thread. They are empty here afterwards.
   * @throws {WorkerFailure}
   */
  async run(job: unknown, options: JobOptions, transfer: readonly ArrayBuffer[] = []): Promise<unknown> {
    const { accountId, signal, isRequired: isOwed = false } = options;
    const { maxQueued, maxQueuedPerAccount } = this.options;
    if (this.#isClosed || signal?.aborted) throw new WorkerFailure("cancelled", "The job was cancelled");
    const isFull = this.#queue.size >= maxQueued || this.#queue.sizeOf(accountId) >= maxQueuedPerAccount;
    if (isFull && !isOwed) throw new WorkerFailure("busy", "Too many jobs are queued");
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

  /** Ends all threads. Running and queued jobs are cancelled. */
  close(): void {
    this.#isClosed = true;
    const error = new WorkerFailure("cancelled", "The gateway is shutting down");
    for (let job = this.#queue.shift(); job !== null; job = this.#queue.shift()) job.reject(error);
    for (const member of this.#members) {
      this.#remove(member);
      member.job?.reject(error);
    }
  }

  /** A running job continues: its thread cannot be interrupted. */
  #abandon(job: Job): void {
    this.#queue.remove(job.options.accountId, job);
    job.reject(new WorkerFailure("cancelled", "The job was cancelled"));
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
    if (this.#hasOverrunTooOften()) return this.#refuseAll("Too many jobs exceeded their time limit");
    try {
      return this.#startMember();
    } catch (error) {
      if (!(error instanceof ThreadUnavailable)) throw error;
      return this.#refuseAll(error.message);
    }
  }

  /** Jobs wait for a thread that there is. Without one, they fail. */
  #refuseAll(reason: string): null {
    if (this.#members.size > 0) return null;
    const error = new WorkerFailure("busy", reason);
    for (let job = this.#queue.shift(); job !== null; job = this.#queue.shift()) job.reject(error);
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
    try {
      member.thread.post(job.message, job.transfer);
    } catch (error) {
      this.#rest(member);
      return job.reject(new WorkerFailure("failed", `The job cannot be sent to the thread: ${errorName(error)}`));
    }
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

  /** An idle thread does not keep the process alive and ends after `idleMs`. */
  #rest(member: Member): void {
    member.stopTimer();
    member.job = null;
    member.thread.setReferenced(false);
    member.stopTimer = this.options.clock.after(this.options.idleMs, () => this.#remove(member));
  }

  #overrun(member: Member): void {
    const { clock, log, name, jobMs } = this.options;
    this.#overrunsAt.push(clock.monotonicMs());
    log.error("worker_overran", { ref: name, accountId: member.job?.options.accountId, durationMs: jobMs });
    this.#remove(member);
    member.job?.reject(new WorkerFailure("overran", `The job exceeded its time limit of ${jobMs} ms`));
    this.#startNext();
  }

  #crash(member: Member, reason: string): void {
    const { log, name: ref } = this.options;
    log.error("worker_crashed", { ref, accountId: member.job?.options.accountId, reason });
    this.#remove(member);
    member.job?.reject(new WorkerFailure("crashed", "The thread ended before the job was complete"));
    this.#startNext();
  }

  #remove(member: Member): void {
    member.stopTimer();
    this.#members.delete(member);
    member.thread.setReferenced(false);
    member.thread.terminate();
  }

  #hasOverrunTooOften(): boolean {
    const since = this.options.clock.monotonicMs() - OVERRUN_WINDOW_MS;
    this.#overrunsAt = this.#overrunsAt.filter((at) => at > since);
    return this.#overrunsAt.length >= MAX_OVERRUNS;
  }
}

/** Work that one thread does for all accounts. */
export interface OneThreadWork extends Pick<WorkerPoolOptions, "maxQueued" | "jobMs"> {
  /** The name in the log, and of the watch. */
  readonly kind: ThreadKind;
  readonly module: ThreadModule;
  readonly heapMegabytes: number;
  /** Default: {@linkcode THREAD_IDLE_MS}. */
  readonly idleMs?: number;
}

/** Creates a pool of one thread, which starts with the first job. One account may fill the queue. */
export function oneThreadPool(
  { kind, module, heapMegabytes, maxQueued, jobMs, idleMs = THREAD_IDLE_MS }: OneThreadWork,
  { clock, log, start }: ThreadWorkOptions,
): WorkerPool {
  return new WorkerPool({
    name: kind,
    start: start ?? threadStarter({ kind, entry: threadModule(module), heapMegabytes }),
    maxThreads: 1,
    maxQueued,
    maxQueuedPerAccount: maxQueued,
    jobMs,
    idleMs,
    clock,
    log,
  });
}
