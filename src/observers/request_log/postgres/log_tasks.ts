import { isUnavailable } from "../../../platform/store/postgres/database.ts";
import type { BodyMessage, DatabaseLogData, FromLogThread, LogQuestion, ToLogThread } from "../messages.ts";
import { splitRows } from "../row.ts";
import { POSITIONS_PER_MS, search } from "../search.ts";
import { BodyTable } from "./body_table.ts";
import { endOf, logFailureOf, LogTables } from "./log_tables.ts";

/** Rows that one statement removes. */
const ROWS_PER_DELETION = 500;
/** Kept bodies after which those that are too old or too many are removed. */
const TRIM_AFTER_BODIES = 100;
/** How long rows are tried again while the database is unavailable. The main thread limits what waits meanwhile. */
const RETRY_FOR_MS = 30_000;
const RETRY_AFTER_MS = 500;

/**
 * Runs the messages of the log inside its thread. It connects when the log is first needed. Writes run one after the
 * other, and questions after the writes that came before them.
 */
export class DatabaseLogTasks {
  #tables: Promise<LogTables> | null = null;
  #bodiesSinceTrim = 0;
  #written: Promise<void> = Promise.resolve();

  /** @param post Sends a message to the main thread. */
  constructor(readonly data: DatabaseLogData, readonly post: (message: FromLogThread) => void) {}

  /** Runs a message. Never rejects. */
  async run(message: ToLogThread): Promise<void> {
    if (message.type === "append") return await this.#afterWrites(() => this.#append(message));
    if (message.type === "bodies") return await this.#afterWrites(() => this.#keep(message));
    const { id, question } = message;
    await this.#written;
    try {
      this.post({ type: "answer", id, answer: await this.#answer(question) });
    } catch (error) {
      this.post({ type: "failed", id, reason: logFailureOf(error) });
    }
  }

  #afterWrites(write: () => Promise<void>): Promise<void> {
    return this.#written = this.#written.then(write);
  }

  async #append({ rows, text }: ToLogThread & { readonly type: "append" }): Promise<void> {
    const failure = await this.#tried(async (isRepeat) => await (await this.#open()).append(splitRows(text), isRepeat));
    this.post({ type: "appended", rows, failure });
  }

  async #keep(message: BodyMessage): Promise<void> {
    const bytes = (message.request?.byteLength ?? 0) + (message.response?.byteLength ?? 0);
    const failure = await this.#tried(async () => {
      await (await this.#bodies())?.add(message);
      if (++this.#bodiesSinceTrim >= TRIM_AFTER_BODIES) await this.#trimBodies();
    });
    this.post({ type: "kept", bytes, failure });
  }

  /** Null, or why it failed. While the database is unavailable it is tried again. */
  async #tried(write: (isRepeat: boolean) => Promise<void>): Promise<string | null> {
    const until = performance.now() + RETRY_FOR_MS;
    for (let isRepeat = false;; isRepeat = true) {
      try {
        await write(isRepeat);
        return null;
      } catch (error) {
        if (performance.now() >= until || !isUnavailable(error)) return logFailureOf(error);
        await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_MS));
      }
    }
  }

  async #answer(question: LogQuestion): Promise<unknown> {
    switch (question.type) {
      case "list":
        return await search(await this.#open(), question.query, { now: () => performance.now(), pause });
      case "get":
        return await (await this.#open()).get(question.requestId);
      case "bodies":
        return await (await this.#bodies())?.get(question.requestId) ?? null;
      case "delete-account":
        return await this.#deleteAccount(question.account);
      case "trim":
        await this.#trimBodies();
        return await this.#trim();
      case "close":
        return await this.#close();
    }
  }

  /** A failed connection is made again by the next message. */
  #open(): Promise<LogTables> {
    return this.#tables ??= LogTables.open(this.data.url).catch((error) => {
      this.#tables = null;
      throw error;
    });
  }

  /** The next message connects again. */
  async #close(): Promise<null> {
    const tables = this.#tables;
    this.#tables = null;
    await (await tables)?.close();
    return null;
  }

  async #bodies(): Promise<BodyTable | null> {
    const { bodies } = this.data;
    return bodies === null ? null : new BodyTable((await this.#open()).sql, bodies);
  }

  async #trimBodies(): Promise<void> {
    this.#bodiesSinceTrim = 0;
    await (await this.#bodies())?.trim(Date.now());
  }

  /** Returns the number of removed rows. A repeat completes an interrupted call. */
  async #deleteAccount(account: string): Promise<number> {
    const [tables, bodies] = [await this.#open(), await this.#bodies()];
    // Ends when nothing is left: each step deletes.
    while (bodies !== null && await bodies.deleteOf(account) > 0);
    return await allOf((limit) => tables.deleteOf(account, limit));
  }

  /** Drops whole days that are too old or too many, and the rows of the oldest day that are too old. */
  async #trim(): Promise<number> {
    const { retentionMs, maxBytes } = this.data;
    const tables = await this.#open();
    const oldest = Date.now() - retentionMs;
    const days = [...await tables.partitions()];
    let bytes = days.reduce((sum, day) => sum + day.bytes, 0);
    for (const day of days.slice(0, -1)) {
      if (endOf(day) > oldest && bytes <= maxBytes) break;
      await tables.drop(day);
      bytes -= day.bytes;
    }
    return await allOf((limit) => tables.deleteBefore(oldest * POSITIONS_PER_MS, limit));
  }
}

/** Removes steps of rows until none are left. Returns their number. */
async function allOf(remove: (limit: number) => Promise<number>): Promise<number> {
  let [removed, step] = [0, 0];
  // Ends when nothing is left: each step deletes.
  do {
    step = await remove(ROWS_PER_DELETION);
    removed += step;
  } while (step === ROWS_PER_DELETION);
  return removed;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
