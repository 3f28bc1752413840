import { dirname } from "node:path";
import { freeSpaceAt } from "../../store/free_space.ts";
import type { FromLogThread, LogQuestion, LogThreadData, ToLogThread } from "../messages.ts";
import { ROW_COLUMNS, type RowValue } from "../row.ts";
import { LogFile } from "./log_file.ts";
import { search } from "./search.ts";
import { deleteAccount, trim } from "./trim.ts";

/** Time between two checks of the disk's free space. */
const CHECK_SPACE_MS = 1_000;
/** Appended rows after which the size of the log is checked. */
const TRIM_AFTER_ROWS = 20_000;

/**
 * Runs the messages of the log inside its thread. The file is opened when it is first needed. If that fails, the next
 * message tries it again.
 */
export class LogTasks {
  readonly #freeBytes: () => number | null;
  #file: LogFile | null = null;
  #checkedSpaceAt = -Infinity;
  #hasSpace = true;
  #rowsSinceTrim = TRIM_AFTER_ROWS;
  #isTrimming = false;

  /** @param post Sends a message to the main thread. */
  constructor(readonly data: LogThreadData, readonly post: (message: FromLogThread) => void) {
    const { path } = data;
    this.#freeBytes = path === MEMORY ? () => null : freeSpaceAt([dirname(path)]);
  }

  /** Runs a message. Never rejects. */
  async run(message: ToLogThread): Promise<void> {
    if (message.type === "append") return this.#append(message.values);
    const { id, question } = message;
    try {
      this.post({ type: "answer", id, answer: await this.#answer(question) });
    } catch (error) {
      this.post({ type: "failed", id, reason: reasonOf(error) });
    }
  }

  #append(values: readonly RowValue[]): void {
    const rows = values.length / ROW_COLUMNS.length;
    let failure: string | null = null;
    try {
      this.#requireSpace();
      this.#open().append(values);
      this.#trimSoon(rows);
    } catch (error) {
      failure = reasonOf(error);
    }
    this.post({ type: "appended", rows, failure });
  }

  async #answer(question: LogQuestion): Promise<unknown> {
    switch (question.type) {
      case "list":
        return await search(this.#open(), question.query, { now: () => performance.now(), pause });
      case "get":
        return this.#open().get(question.requestId);
      case "delete-account":
        return await deleteAccount(this.#open(), question.account, pause);
      case "trim":
        return await this.#trim();
      case "close":
        this.#file?.close();
        this.#file = null;
        return null;
    }
  }

  #open(): LogFile {
    return this.#file ??= new LogFile(this.data.path);
  }

  /** The log must not take the space that the ledger needs. */
  #requireSpace(): void {
    const now = performance.now();
    if (now - this.#checkedSpaceAt >= CHECK_SPACE_MS) {
      this.#checkedSpaceAt = now;
      const free = this.#freeBytes();
      this.#hasSpace = free === null || free >= this.data.minFreeBytes;
    }
    if (!this.#hasSpace) throw new Error("the disk is almost full");
  }

  #trimSoon(rows: number): void {
    this.#rowsSinceTrim += rows;
    if (this.#rowsSinceTrim < TRIM_AFTER_ROWS) return;
    this.#trim().catch(() => {}); // it is tried again after as many rows
  }

  async #trim(): Promise<number> {
    if (this.#isTrimming) return 0;
    this.#isTrimming = true;
    this.#rowsSinceTrim = 0;
    try {
      return await trim(this.#open(), { ...this.data, now: Date.now, pause });
    } finally {
      this.#isTrimming = false;
    }
  }
}

const MEMORY = ":memory:";

/** Runs what other messages have brought meanwhile. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** SQLite's own texts name neither rows nor values. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : typeof error;
}
