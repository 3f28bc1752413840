import type { Credential } from "../../../money/billing/keys/key_ring.ts";
import type { StoredFile } from "../../../platform/files/files.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { BatchParts } from "../settling/batch_parts.ts";
import type { Settler } from "../settling/settle.ts";
import { placedLines, type StoredLine } from "../lines/input_lines.ts";
import { isRefusedForNow } from "../lines/line_runner.ts";
import type { TaskBegin } from "../lines/line_tasks.ts";
import type { LineTask } from "../records/batch.ts";
import { lineTasksOf, removeLineTask, settledLines } from "../records/records.ts";
import { pollMs } from "../vendors/vendor_pauses.ts";

/** The tasks of one batch that are open simultaneously. Limits of the provider apply as well. */
const MAX_OPEN_TASKS = 50;
/** Lines that cannot begin now are tried again after this time. */
const RETRY_MS = 5_000;

/** What {@linkcode TaskRun} works on. */
export interface TaskRunOptions {
  readonly settler: Settler;
  readonly lines: StoredFile;
  /** The credential of the batch; the error of a key that may not be used any more. */
  readonly credential: () => Promise<Credential | GatewayError>;
  /** Whether no further line may begin, as the batch is cancelled or expired. */
  readonly isStopped: () => boolean;
  /** Whether this run ends, and a later one goes on. */
  readonly shouldPause: () => boolean;
}

/**
 * One look at the tasks of a batch whose lines make some: settles the lines of those that have ended, and begins
 * others. A line waits in the store while its task is open, so a batch takes no permit and no memory meanwhile.
 *
 * A task is stored in one commit with its hold, which comes out of that of the batch, and with its place in the batch.
 * So a line has one task at most, and its money is held once, whenever the process ends. The task is charged with its
 * own end.
 */
export class TaskRun {
  constructor(private readonly parts: BatchParts, private readonly options: TaskRunOptions) {}

  /** Resolves to when to look again, in Unix milliseconds; null if no task is open and no line is left. */
  async step(): Promise<number | null> {
    const { store } = this.parts;
    const { isStopped, shouldPause } = this.options;
    const open = await this.#settleEnded();
    if (isStopped()) {
      await this.#cancel(open);
      return open.length === 0 ? null : this.#nextLook(open);
    }
    if (shouldPause()) return store.now();
    const isAllBegun = await this.#begin(open);
    if (open.length > 0) return this.#nextLook(open);
    return isAllBegun ? null : store.now() + RETRY_MS;
  }

  /** The younger the youngest task, the sooner. */
  #nextLook(open: readonly LineTask[]): number {
    const now = this.parts.store.now();
    return now + pollMs(now - Math.max(...open.map(({ begunAt }) => begunAt)));
  }

  /** Settles the lines whose tasks have ended. Returns the tasks that are open. */
  async #settleEnded(): Promise<LineTask[]> {
    const { store, tasks } = this.parts;
    const { settler, isStopped } = this.options;
    const { value: batch } = settler.entry;
    const known = await lineTasksOf(store, batch.id);
    const ended = known.length === 0 ? new Map() : await tasks.ended(batch, known);
    const open: LineTask[] = [];
    for (const task of known) {
      const end = ended.get(task.taskId);
      if (end === undefined) {
        open.push(task);
        continue;
      }
      const { number, customId } = task;
      const extra = removeLineTask(batch.id, number);
      // As a line that never began: it says why in the format of the batch.
      if (isStopped() && end.isStopped && end.cost === 0n) {
        await settler.change({}, extra);
        continue;
      }
      await settler.add({ line: { number, customId, part: 0n }, reply: end.reply, paid: end.cost, extra });
    }
    await settler.flush();
    return open;
  }

  /** Passes the cancellation on. The end of the window is also that of each task. */
  async #cancel(open: readonly LineTask[]): Promise<void> {
    const { tasks } = this.parts;
    const { settler, shouldPause } = this.options;
    const { status, keyId } = settler.entry.value;
    if (status !== "cancelling") return;
    for (const { taskId } of open) {
      if (shouldPause()) return;
      await tasks.cancel(keyId, taskId);
    }
  }

  /**
   * Begins lines in their order, and adds their tasks to those that are open. Returns whether all lines have begun or
   * are settled.
   */
  async #begin(open: LineTask[]): Promise<boolean> {
    const { store, runner } = this.parts;
    const { settler, lines, isStopped, shouldPause } = this.options;
    const { begun = { lines: 0, bytes: 0 } } = settler.entry.value;
    if (begun.bytes >= lines.bytes) return true;
    const done = await settledLines(store, settler.entry.value, begun.lines);
    for (const { number } of open) done.add(number);
    const left = lines.read({ first: begun.bytes, last: lines.bytes - 1 });
    for await (const { line, end } of placedLines(left, begun)) {
      if (done.has(line.number)) continue;
      if (open.length >= MAX_OPEN_TASKS || isStopped() || shouldPause() || runner.isBusy()) return false;
      const outcome = await this.#beginLine(line, end, open);
      if (outcome === "left") return false;
      if (outcome === "begun") continue;
      if (isRefusedForNow(outcome)) return false;
      await settler.add({ line, reply: outcome });
    }
    await settler.flush();
    return true;
  }

  async #beginLine(line: StoredLine, bytes: number, open: LineTask[]): Promise<TaskBegin> {
    const { store, runner, tasks } = this.parts;
    const { settler } = this.options;
    const { id, endpoint, account: accountId, keyId, expiresAt } = settler.entry.value;
    const credential = await this.options.credential();
    if (credential instanceof GatewayError) {
      return await runner.refuse({ endpoint, credential: { accountId, keyId } }, credential);
    }
    const { number, customId, part, body } = line;
    const request = { endpoint, credential, body };
    return await tasks.begin({ request, part, batch: id, customId, expiresAt }, async (made) => {
      const { taskId, requestId, amount, commit } = made;
      const task = { number, customId, taskId, requestId, begunAt: store.now() };
      const isBegun = await settler.begin({ task, part, amount, commit, begun: { lines: number, bytes } });
      if (isBegun) open.push(task);
      return isBegun;
    });
  }
}
