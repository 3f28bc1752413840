import type { JobHandler } from "../../platform/store/job_runner.ts";
import type { CommitResult, Job } from "../../platform/store/store.ts";
import { laterBy } from "../../platform/store/store_time.ts";
import { AccountQueue } from "./account_queue.ts";
import type { BatchParts } from "./settling/batch_parts.ts";
import { abandonBatch, finishBatch, isHopeless } from "./finish.ts";
import { type BatchEntry, readBatch } from "./records/records.ts";
import { LostBatchError } from "./settling/settle.ts";
import { takeOver } from "./take_over.ts";
import { BatchRun } from "./batch_run.ts";

/** How long one run lasts before it lets other batches go on. */
const MAX_RUN_MS = 300_000;

/** What {@linkcode BatchRuns} needs besides the parts. */
export interface BatchRunOptions {
  /** Default: {@linkcode MAX_RUN_MS}. */
  readonly maxRunMs?: number;
}

/** The runs of batches in this process. */
export class BatchRuns {
  readonly #runs = new Map<string, BatchRun>();
  readonly #queue = new AccountQueue();
  #isStopping = false;

  constructor(private readonly parts: BatchParts, private readonly options: BatchRunOptions = {}) {}

  /** Ends all runs when their present lines are answered; the next process goes on with the others. */
  stop(): void {
    this.#isStopping = true;
    for (const run of this.#runs.values()) run.leave();
  }

  /** Ends the run of a batch here, because its caller cancelled it. */
  cancel(batchId: string): void {
    this.#runs.get(batchId)?.stop("cancelled");
  }

  /** Runs the lines of a batch that are not settled, and then writes its files. */
  readonly handler: JobHandler = async (job, context) => {
    const { store, clock } = this.parts;
    const known = await readBatch(store, job.ref);
    if (known !== null && this.#isFull(known)) return await this.#wait(job, known);
    const entry = await takeOver(this.parts, job);
    if (entry !== null && this.#isFull(entry)) return await this.#wait(job, entry);
    if (known !== null) this.#queue.leave(known.value.account, job.ref);
    if (entry === null) return await store.commit(null, { completeJobs: [job] });
    const run = new BatchRun(this.parts, entry, context.signal);
    if (this.#isStopping) run.leave();
    const stopTimer = clock.after(this.options.maxRunMs ?? MAX_RUN_MS, () => run.stop("paused"));
    this.#runs.set(job.ref, run);
    try {
      const end = await run.lines();
      if (typeof end === "number") return await this.#later(job, Math.max(0, end - store.now()));
      if (end === "paused") return await this.#later(job);
      return await finishBatch(this.parts, { entry: run.entry, end, job }) ?? await this.#later(job);
    } catch (error) {
      if (error instanceof LostBatchError) return;
      if (!isHopeless(run.entry.value, job, store.now())) throw error;
      return await abandonBatch(this.parts, { entry: run.entry, job, error }) ?? await this.#later(job);
    } finally {
      stopTimer();
      this.#runs.delete(job.ref);
    }
  };

  #isFull({ value: { account } }: BatchEntry): boolean {
    return this.#queue.isFull(
      this.#runs.values().filter(({ entry }) => entry.value.account === account).toArray().length,
    );
  }

  #wait(job: Job, { value: { account } }: BatchEntry): Promise<CommitResult> {
    return this.#later(job, this.#queue.pauseMs(account, job.ref, this.parts.store.now()));
  }

  async #later(job: Job, delayMs = 0): Promise<CommitResult> {
    const { store } = this.parts;
    return await store.commit(null, { postponeJobs: [{ job, dueAt: laterBy(store.now(), delayMs), attempt: 0 }] });
  }
}
