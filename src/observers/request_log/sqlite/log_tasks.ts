import { dirname } from "node:path";
import { freeSpaceAt } from "../../../platform/store/free_space.ts";
import type { BodyMessage, FromLogThread, LogQuestion, LogThreadData, ToLogThread } from "../messages.ts";
import { splitRows } from "../row.ts";
import { search } from "../search.ts";
import { BodyFile } from "./body_file.ts";
import { LogFile } from "./log_file.ts";
import { deleteAccount, trim } from "./trim.ts";

/** Time between two checks of the disk's free space. */
const CHECK_SPACE_MS = 1_000;
/** Appended rows after which the size of the log is checked. */
const TRIM_AFTER_ROWS = 20_000;
/** Kept bodies after which those that are too old or too many are removed. */
const TRIM_AFTER_BODIES = 100;

/**
 * Runs the messages of the log inside its thread. The file is opened when it is first needed. If that fails, the next
 * message tries it again.
 */
export class LogTasks {
  readonly #freeBytes: () => number | null;
  #file: LogFile | null = null;
  #bodies: BodyFile | null = null;
  #bodiesSinceTrim = TRIM_AFTER_BODIES;
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
    if (message.type === "append") return this.#append(message);
    if (message.type === "bodies") return this.#keep(message);
    const { id, question } = message;
    try {
      this.post({ type: "answer", id, answer: await this.#answer(question) });
    } catch (error) {
      this.post({ type: "failed", id, reason: reasonOf(error) });
    }
  }

  #append({ rows, text }: ToLogThread & { readonly type: "append" }): void {
    let failure: string | null = null;
    try {
      this.#requireSpace();
      this.#open().append(splitRows(text));
      this.#trimSoon(rows);
    } catch (error) {
      failure = reasonOf(error);
    }
    this.post({ type: "appended", rows, failure });
  }

  #keep(message: BodyMessage): void {
    const bytes = (message.request?.byteLength ?? 0) + (message.response?.byteLength ?? 0);
    let failure: string | null = null;
    try {
      this.#requireSpace();
      this.#openBodies().add(message);
      this.#bodiesSinceTrim++;
      if (this.#bodiesSinceTrim >= TRIM_AFTER_BODIES) this.#trimBodies();
    } catch (error) {
      failure = reasonOf(error);
    }
    this.post({ type: "kept", bytes, failure });
  }

  /** A few at a time, at each of the following bodies. */
  #trimBodies(): void {
    if (!this.#openBodies().trim(Date.now())) this.#bodiesSinceTrim = 0;
  }

  #openBodies(): BodyFile {
    if (this.data.bodies === null) throw new Error("no bodies are kept");
    return this.#bodies ??= new BodyFile(this.data.bodies);
  }

  async #deleteBodies(account: string): Promise<void> {
    if (this.data.bodies === null) return;
    const file = this.#openBodies();
    while (file.deleteOf(account) > 0) await pause();
    file.checkpoint();
  }

  async #answer(question: LogQuestion): Promise<unknown> {
    switch (question.type) {
      case "list":
        return await search(this.#open(), question.query, { now: () => performance.now(), pause });
      case "get":
        return this.#open().get(question.requestId);
      case "bodies":
        return this.data.bodies === null ? null : this.#openBodies().get(question.requestId);
      case "delete-account":
        await this.#deleteBodies(question.account);
        return await deleteAccount(this.#open(), question.account, pause);
      case "trim":
        if (this.data.bodies !== null) { while (this.#openBodies().trim(Date.now())) await pause(); }
        return await this.#trim();
      case "close":
        this.#file?.close();
        this.#file = null;
        this.#bodies?.close();
        this.#bodies = null;
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
