import { addCharge } from "../../../money/billing/ledger/charge.ts";
import { drawFromHold, type Hold, type HoldDraw, readHold, splitHold } from "../../../money/billing/hold.ts";
import { holdKey, mergeCommits } from "../../../money/billing/accounts/records.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type { Commit } from "../../../platform/store/store.ts";
import { writtenVersion } from "../../../platform/store/written_version.ts";
import { type BatchRecord, type BegunLines, type LineTask, replyNameOf, type SettledLine } from "../records/batch.ts";
import type { BatchParts } from "./batch_parts.ts";
import type { StoredLine } from "../lines/input_lines.ts";
import { countsAfter } from "./counts.ts";
import type { LineReply } from "../lines/line_runner.ts";
import { addLineTask, addReply, type BatchEntry, changeBatch, hasLineTask, readBatch } from "../records/records.ts";

/** A line with its reply. */
export interface AnsweredLine {
  /** Its part of the hold is zero if the line has a task, which has taken it over. */
  readonly line: Pick<StoredLine, "number" | "customId" | "part">;
  readonly reply: LineReply;
  /** What its task was charged. Absent: the line has no task. */
  readonly paid?: Money;
  /** What belongs to the same commit. Absent: nothing. */
  readonly extra?: Commit;
}

/** A task that a line makes. */
export interface BeginningTask {
  readonly task: LineTask;
  /** The part of the hold of the batch that is for the line. */
  readonly part: Money;
  /** What the hold of the task needs of it. */
  readonly amount: Money;
  /** The task without its hold. */
  readonly commit: Commit;
  /** The lines that have begun then. */
  readonly begun: BegunLines;
}

/** A batch whose job another worker has. */
export class LostBatchError extends Error {
  override readonly name = "LostBatchError";
}

/** A longer reply is a content, since the values of a store are short. */
const MAX_INLINE_BYTES = 40_000;
/** The lines of one commit, and the bytes of their replies, within the limits of every store. */
const MAX_LINES = 16;
const MAX_BYTES = 400_000;
/** The replies that wait in memory for their commit. */
const MAX_WAITING = 2 * MAX_LINES;
/** A batch changes beside its worker when its caller cancels it. */
const MAX_RACES = 8;

/**
 * Settles lines of a batch: each reply becomes durable in one commit with its charge, its part of the hold and the
 * counts of the batch. A line is therefore charged once or not at all, whenever the process ends. Several lines share a
 * commit.
 */
export class Settler {
  readonly #waiting: AnsweredLine[] = [];
  #writing: Promise<void> | null = null;
  #failure: unknown = null;

  constructor(
    private readonly parts: Pick<BatchParts, "store" | "files" | "meter" | "countLines">,
    /** The batch as of the last commit. */
    public entry: BatchEntry,
    /** Null if nothing was held. */
    public hold: Hold | null,
  ) {}

  /** Adds a line as soon as few others wait: lines can be answered faster than the store takes them. */
  async add(answered: AnsweredLine): Promise<void> {
    // Ends when few wait: a write takes lines, or fails.
    while (this.#waiting.length >= MAX_WAITING && this.#writing !== null && this.#failure === null) {
      await this.#writing;
    }
    this.#waiting.push(answered);
    this.#start();
  }

  #start(): void {
    this.#writing ??= this.#write()
      .catch((error) => void (this.#failure ??= error))
      .finally(() => {
        this.#writing = null;
        // A line can be added between the end of the last write and this moment.
        if (this.#waiting.length > 0 && this.#failure === null) this.#start();
      });
  }

  /** What prevents further lines; null if nothing does. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Resolves when all lines are durable. @throws What prevented it. */
  async flush(): Promise<void> {
    // Ends when nothing waits: a write takes lines, or fails.
    while (this.#writing !== null && this.#failure === null) await this.#writing;
    if (this.#failure !== null) throw this.#failure;
  }

  /** Reads the batch again, since its caller may have cancelled it. */
  async refresh(): Promise<void> {
    const before = this.entry;
    const entry = await readBatch(this.parts.store, this.entry.value.id);
    if (entry === null || entry.value.epoch !== this.entry.value.epoch) {
      this.#failure ??= new LostBatchError("The batch is lost");
      return;
    }
    // A commit may have changed it meanwhile, and then has read it again.
    if (this.entry === before) this.entry = entry;
  }

  /**
   * Changes the batch, and writes what belongs to its run.
   *
   * @param extra Written only if this worker still has the job of the batch.
   * @throws {LostBatchError} If another worker has it.
   */
  async change(change: Partial<BatchRecord>, extra: Commit = {}): Promise<void> {
    const { store } = this.parts;
    for (let race = 0; race < MAX_RACES; race++) {
      const { entry } = this;
      const commit = changeBatch(extra, entry, change);
      const result = await store.commit(null, commit);
      const version = writtenVersion(commit, result, entry.key);
      if (version !== null) {
        // A commit of lines may have changed it in between, and then has a later version.
        if (this.entry === entry) this.entry = { ...entry, value: { ...entry.value, ...change }, version };
        return;
      }
      await this.#reread(entry);
    }
    throw new Error("The batch changes all the time");
  }

  /**
   * Stores the task of a line with its hold, which takes over the part of the line, in one commit. A line has one task
   * at most: a second one is refused, and so is one for a batch that was cancelled or that another worker has.
   *
   * @returns Whether it is stored.
   * @throws {LostBatchError} If another worker has the batch.
   */
  async begin({ task, part, amount, commit, begun }: BeginningTask): Promise<boolean> {
    const { store } = this.parts;
    await this.flush();
    for (let race = 0; race < MAX_RACES; race++) {
      const { entry, hold } = this;
      const { id, keyId, status } = entry.value;
      if (status !== "in_progress" || await hasLineTask(store, id, task.number)) return false;
      const detail = { key: keyId, batch: id, custom_id: task.customId };
      const piece = { part, into: { reference: task.taskId, amount }, entry: `${id}:${task.number}`, detail };
      const split = hold === null ? null : splitHold(commit, hold, { ...piece, now: store.now() });
      const whole = changeBatch(addLineTask(split?.commit ?? commit, id, task), entry, { begun });
      const result = await store.commit(null, whole);
      const version = writtenVersion(whole, result, entry.key);
      if (version === null) {
        await this.#reread(entry);
        if (hold !== null) this.hold = await readHold(store, id);
        continue;
      }
      this.entry = { ...entry, value: { ...entry.value, begun }, version };
      const holdVersion = writtenVersion(whole, result, holdKey(id));
      if (split !== null && holdVersion !== null) this.hold = { ...split.left, version: holdVersion };
      return true;
    }
    throw new Error("The batch changes all the time");
  }

  async #reread({ value: { id, epoch } }: BatchEntry): Promise<void> {
    const entry = await readBatch(this.parts.store, id);
    if (entry === null || entry.value.epoch !== epoch) throw new LostBatchError("The batch is lost");
    this.entry = entry;
  }

  async #write(): Promise<void> {
    // Ends when nothing waits: each step takes lines.
    while (this.#waiting.length > 0) {
      const lines = takeWithin(this.#waiting);
      const replies: SettledLine[] = [];
      for (const each of lines) replies.push(await this.#replyOf(each));
      await this.#commit(lines, replies);
    }
  }

  async #replyOf({ line, reply }: AnsweredLine): Promise<SettledLine> {
    const { number, customId } = line;
    const { requestId, status, body } = reply;
    const settled = { number, customId, requestId, status };
    if (body.length <= MAX_INLINE_BYTES) return { ...settled, body };
    await this.parts.files.write(replyNameOf(this.entry.value.id, number), once(body), { capBytes: body.length });
    return { ...settled, body: null };
  }

  async #commit(lines: readonly AnsweredLine[], replies: readonly SettledLine[]): Promise<void> {
    const { store, meter, countLines } = this.parts;
    for (let race = 0; race < MAX_RACES; race++) {
      const { value: batch } = this.entry;
      const now = store.now();
      const drawn = this.hold === null
        ? null
        : drawFromHold({}, this.hold, lines.map((each) => drawOf(each, batch, now)));
      let commit: Commit = drawn?.commit ?? unheld(lines, batch, now);
      for (const reply of replies) commit = addReply(commit, batch.id, reply);
      for (const { extra } of lines) if (extra !== undefined) commit = mergeCommits(commit, extra);
      const change = countsAfter(batch, lines);
      commit = changeBatch(commit, this.entry, change);
      const result = await store.commit(null, commit);
      if (result.ok) {
        const failed = (change.failed ?? 0) - batch.failed;
        countLines("failed", failed);
        countLines("completed", lines.length - failed);
        // What a call can reserve only grows, unless a line cost more than its part.
        if (costsAbove(lines)) meter.invalidate(batch.account);
        const version = writtenVersion(commit, result, this.entry.key);
        if (version === null) throw new Error("The store gave no version of a batch");
        this.entry = { key: this.entry.key, value: { ...batch, ...change }, version };
        const holdVersion = writtenVersion(commit, result, holdKey(batch.id));
        if (drawn !== null && holdVersion !== null) this.hold = { ...drawn.left, version: holdVersion };
        return;
      }
      await this.#reread(this.entry);
    }
    throw new Error("The batch changes all the time");
  }
}

/** Takes the first lines that fit into one commit; at least one. */
function takeWithin(waiting: AnsweredLine[]): AnsweredLine[] {
  let bytes = 0;
  const count = waiting.findIndex(({ reply }, index) => {
    bytes += reply.body.length > MAX_INLINE_BYTES ? 0 : reply.body.length;
    return index > 0 && (index >= MAX_LINES || bytes > MAX_BYTES);
  });
  return waiting.splice(0, count < 0 ? waiting.length : count);
}

function drawOf({ line, reply }: AnsweredLine, batch: BatchRecord, at: number): HoldDraw {
  const { charge } = reply;
  return {
    reference: `${batch.id}:${line.number}`,
    part: line.part,
    row: charge === null || charge.amount === 0n ? null : { ...charge, at },
    detail: { key: batch.keyId, batch: batch.id, custom_id: line.customId },
  };
}

/** The charges of lines for which nothing was held, since they were free at the create. */
function unheld(lines: readonly AnsweredLine[], batch: BatchRecord, at: number): Commit {
  return lines.map((each) => drawOf(each, batch, at)).reduce<Commit>(
    (commit, { reference, row }) =>
      row === null ? commit : addCharge(commit, { account: batch.account, reference, rows: [row] }),
    {},
  );
}

function costsAbove(lines: readonly AnsweredLine[]): boolean {
  return lines.some(({ line, reply }) => (reply.charge?.amount ?? 0n) > line.part);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
