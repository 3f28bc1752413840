import { type Credential, readCredential } from "../../money/billing/keys/key_ring.ts";
import { readHold } from "../../money/billing/hold.ts";
import type { StoredFile } from "../../platform/files/files.ts";
import { sleep } from "../../platform/lib/basics/clock.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { jobBackoffMs } from "../../platform/store/job_runner.ts";
import { hasTasks, linesNameOf } from "./records/batch.ts";
import { type BatchParts, MAX_LINES_OF_BATCH } from "./settling/batch_parts.ts";
import { type StoredLine, storedLines } from "./lines/input_lines.ts";
import { UnfinishedCutError } from "./vendors/cut.ts";
import type { BatchEnd } from "./lines/line_format.ts";
import { isRefusedForNow, type LineReply } from "./lines/line_runner.ts";
import { type BatchEntry, settledLines } from "./records/records.ts";
import { Settler } from "./settling/settle.ts";
import { repeat } from "./repeat.ts";
import { TaskRun } from "./tasks/task_run.ts";
import { VendorRun } from "./vendors/vendor_run.ts";

/** How often a run looks whether its batch was cancelled, and whether interactive requests still wait. */
const LOOK_EVERY_MS = 1_000;
/** A line whose vendor fails is tried so often. */
const MAX_TRIES = 4;

/** Why a run begins no further line. `completed`: there is none. */
export type RunEnd = BatchEnd | "paused";

/** One run of the lines of a batch. */
export class BatchRun {
  #stopped: RunEnd | null = null;
  /** Whether this run ends, also if the batch ended before. */
  #isPaused = false;
  /** Whether it ends now, since the process does. */
  #isLeaving = false;
  readonly #left = new AbortController();
  #settler: Settler;
  #credential: Promise<Credential | GatewayError> | null = null;

  constructor(private readonly parts: BatchParts, entry: BatchEntry, signal: AbortSignal) {
    this.#settler = new Settler(parts, entry, null);
    signal.addEventListener("abort", () => (this.leave(), this.#left.abort()));
  }

  /** The batch as of the last commit. */
  get entry(): BatchEntry {
    return this.#settler.entry;
  }

  /** Begins no further line. The first reason counts. */
  stop(reason: RunEnd): void {
    this.#stopped ??= reason;
    this.#isPaused ||= reason === "paused";
  }

  /** Begins no further line, and waits for no results. */
  leave(): void {
    this.#isLeaving = true;
    this.stop("paused");
  }

  /**
   * Runs the lines. Resolves when none is under way here, with when to look at the vendors' batches again in Unix
   * milliseconds, if there are some.
   */
  async lines(): Promise<RunEnd | number> {
    const { store, files } = this.parts;
    const { id } = this.entry.value;
    const hold = await readHold(store, id);
    this.#settler.hold = hold?.state === "open" ? hold : null;
    const { total, completed, failed, status, vendorLines } = this.entry.value;
    const runsElsewhere = vendorLines > 0 || hasTasks(this.entry.value);
    // Also if the process ended while the files were written, and the window ended meanwhile.
    if (completed + failed >= total) return status === "cancelling" ? "cancelled" : "completed";
    if (this.#shouldStop() && !runsElsewhere) return this.#stopped ?? "paused";
    const content = await files.find(linesNameOf(id));
    if (content === null) throw new Error("The lines of the batch are missing");
    // Whether it was cancelled.
    const stopLooking = repeat(this.parts.clock, LOOK_EVERY_MS, () => this.#settler.refresh());
    try {
      const next = await this.#allOf(content);
      // A stopped batch waits for its vendors and its tasks, too: they have lines to be paid.
      if (next !== null) return this.#stopped === "paused" ? "paused" : next;
    } finally {
      stopLooking();
    }
    if (this.#shouldStop()) return this.#stopped ?? "paused";
    const { value: after } = this.entry;
    // The job is tried again, and finds the lines that are not settled.
    if (after.completed + after.failed < total) throw new Error("Not all lines of the batch are settled");
    return "completed";
  }

  /**
   * Looks at the vendors' batches or the tasks, and runs the other lines. Both have ended when this does, also if one
   * fails: the job is tried again then, and a line that is still under way would be sent twice.
   */
  async #allOf(content: StoredFile): Promise<number | null> {
    const pausing = (error: unknown): never => {
      this.stop("paused");
      throw error;
    };
    const elsewhere = (hasTasks(this.entry.value) ? this.#tasks(content) : this.#vendors(content)).catch(pausing);
    const own = this.#ownLines(content).catch(pausing);
    await Promise.allSettled([elsewhere, own]);
    const [next] = await Promise.all([elsewhere, own, this.#settler.flush()]);
    return next;
  }

  /** Looks at the vendors' batches; returns when to do so again, null if there are none. */
  async #vendors(lines: StoredFile): Promise<number | null> {
    const { value: { vendorLines } } = this.entry;
    if (vendorLines === 0) return null;
    const run = new VendorRun(this.parts, {
      settler: this.#settler,
      lines,
      credential: () => this.#credential ??= this.#readCredential(),
      stoppedAt: () => {
        const { status, cancellingAt, expiresAt } = this.entry.value;
        if (status === "cancelling") return cancellingAt;
        return this.parts.store.now() >= expiresAt ? expiresAt : null;
      },
      shouldPause: () => this.#isPaused || this.#settler.failure !== null,
      mustPause: () => this.#isLeaving || this.#settler.failure !== null,
      signal: this.#left.signal,
    });
    try {
      return await run.step();
    } catch (error) {
      if (error instanceof UnfinishedCutError) return this.parts.store.now();
      throw error;
    }
  }

  /** Looks at the tasks of lines; returns when to do so again, null if all have ended. */
  async #tasks(lines: StoredFile): Promise<number | null> {
    const run = new TaskRun(this.parts, {
      settler: this.#settler,
      lines,
      credential: () => this.#credential ??= this.#readCredential(),
      isStopped: () => this.entry.value.status === "cancelling" || this.parts.store.now() >= this.entry.value.expiresAt,
      shouldPause: () => this.#isPaused || this.#settler.failure !== null,
    });
    return await run.step();
  }

  /** Runs the lines that no vendor's batch has. Resolves when none is under way. */
  async #ownLines(content: StoredFile): Promise<void> {
    const { total, vendorLines, isOwnDone } = this.entry.value;
    if (isOwnDone || vendorLines === total || hasTasks(this.entry.value) || this.#shouldStop()) return;
    const settled = await settledLines(this.parts.store, this.entry.value);
    const running = new Set<Promise<void>>();
    const failures: unknown[] = [];
    for await (const line of storedLines(content.read())) {
      if (line.route !== null || settled.has(line.number)) continue;
      if (running.size >= MAX_LINES_OF_BATCH) await Promise.race(running);
      await this.#untilQuiet();
      if (this.#shouldStop() || failures.length > 0) break;
      const answered: Promise<void> = this.#answer(line).catch((error) => void failures.push(error))
        .finally(() => running.delete(answered));
      running.add(answered);
    }
    await Promise.all(running);
    await this.#settler.flush();
    // The job is tried again after a failure, and finds the line that is not settled.
    if (failures.length > 0) throw failures[0];
    if (vendorLines > 0 && !this.#shouldStop()) await this.#settler.change({ isOwnDone: true });
  }

  /** Lines do not begin while interactive requests wait for a provider. */
  async #untilQuiet(): Promise<void> {
    const { runner, clock } = this.parts;
    // Ends with the load of requests, or with the run.
    while (runner.isBusy() && !this.#shouldStop()) await sleep(clock, LOOK_EVERY_MS);
  }

  #shouldStop(): boolean {
    const { status, expiresAt } = this.entry.value;
    if (status === "cancelling") this.stop("cancelled");
    if (this.parts.store.now() >= expiresAt) this.stop("expired");
    if (this.#settler.failure !== null) this.stop("paused");
    return this.#stopped !== null;
  }

  async #answer(line: StoredLine): Promise<void> {
    const reply = await this.#replyTo(line);
    if (reply !== null) await this.#settler.add({ line, reply });
  }

  /** The reply to a line; null if the run ends before. A line is tried again while a limit refuses it. */
  async #replyTo(line: StoredLine): Promise<LineReply | null> {
    const { runner, permits } = this.parts;
    const { endpoint, account, keyId, betas } = this.entry.value;
    // Ends with a reply, with the run, or with the window of the batch.
    for (let tries = 1;; tries++) {
      if (this.#shouldStop()) return null;
      const credential = await (this.#credential ??= this.#readCredential());
      const owner = { accountId: account, keyId };
      if (credential instanceof GatewayError) return await runner.refuse({ endpoint, credential: owner }, credential);
      const request = { endpoint, credential, body: line.body, betas };
      // A line that waits for its next try takes no permit.
      const reply = await permits.run(
        account,
        async () => this.#stopped === null ? await runner.run(request, line.part, this.#left.signal) : null,
      );
      if (reply === null || this.#left.signal.aborted) return null;
      const isFailed = reply.status >= 500 && tries < MAX_TRIES;
      if (reply.charge !== null || !(isRefusedForNow(reply) || isFailed)) return reply;
      await this.#pause(jobBackoffMs(Math.min(tries - 1, 5)));
    }
  }

  /** Waits, but not longer than the run. */
  async #pause(delayMs: number): Promise<void> {
    const { clock } = this.parts;
    for (let waitedMs = 0; waitedMs < delayMs && !this.#shouldStop(); waitedMs += LOOK_EVERY_MS) {
      await sleep(clock, Math.min(LOOK_EVERY_MS, delayMs - waitedMs));
    }
  }

  /** Once in a run: limits that change later apply from the next run on. */
  async #readCredential(): Promise<Credential | GatewayError> {
    const { account, keyId: id } = this.entry.value;
    try {
      return await readCredential(this.parts.store, { account, id });
    } catch (error) {
      if (error instanceof GatewayError && error.code === "invalid_api_key") return error;
      throw error;
    }
  }
}
