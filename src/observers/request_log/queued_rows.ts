import type { RequestRecord } from "../../platform/http/request/request_record.ts";
import type { JoinedRows } from "./request_log.ts";
import { appendRow, joinRows, type RowValue } from "./row.ts";

/** Rows that wait or are being written. Further ones are dropped. */
export const MAX_QUEUED_ROWS = 20_000;
/** Characters of long texts in the rows that wait or are being written. */
const MAX_QUEUED_CHARACTERS = 33_554_432;

interface SentBatch {
  readonly rows: number;
  readonly characters: number;
}

/** Collects rows into batches, within limits on the rows that are not written yet. */
export class QueuedRows {
  #values: RowValue[] = [];
  /** Rows that another thread has joined. */
  #texts: string[] = [];
  #rows = 0;
  #characters = 0;
  #sent: SentBatch[] = [];
  #sentRows = 0;
  #sentCharacters = 0;

  /** Rows of the next batch. */
  get waiting(): number {
    return this.#rows;
  }

  /** Rows that wait or are being written. */
  get size(): number {
    return this.#rows + this.#sentRows;
  }

  /**
   * Adds a request to the next batch. Returns false if the limits are reached.
   *
   * @param endedAt Unix milliseconds.
   */
  push(record: RequestRecord, endedAt: number): boolean {
    if (this.#rows + this.#sentRows >= MAX_QUEUED_ROWS) return false;
    if (this.#characters + this.#sentCharacters >= MAX_QUEUED_CHARACTERS) return false;
    this.#characters += appendRow(this.#values, record, endedAt);
    this.#rows++;
    return true;
  }

  /** Adds rows that another thread has joined to the next batch. Returns false if the limits are reached. */
  pushText({ text, rows, characters }: JoinedRows): boolean {
    if (this.#rows + this.#sentRows + rows > MAX_QUEUED_ROWS) return false;
    if (this.#characters + this.#sentCharacters >= MAX_QUEUED_CHARACTERS) return false;
    if (rows === 0) return true;
    this.#texts.push(text);
    this.#characters += characters;
    this.#rows += rows;
    return true;
  }

  /** Takes the next batch, which counts as being written from now on. */
  take(): JoinedRows {
    const own = this.#values.length === 0 ? [] : [joinRows(this.#values)];
    const batch = { text: joinRows([...this.#texts, ...own]), rows: this.#rows, characters: this.#characters };
    this.#texts = [];
    this.#sent.push({ rows: this.#rows, characters: this.#characters });
    this.#sentRows += this.#rows;
    this.#sentCharacters += this.#characters;
    this.#values = [];
    this.#rows = this.#characters = 0;
    return batch;
  }

  /** The first batch that was taken is written or lost. */
  finishFirst(): void {
    const batch = this.#sent.shift();
    if (batch === undefined) return;
    this.#sentRows -= batch.rows;
    this.#sentCharacters -= batch.characters;
  }

  /** All batches that were taken are lost. Returns the number of their rows. */
  loseSent(): number {
    const lost = this.#sentRows;
    this.#sent = [];
    this.#sentRows = this.#sentCharacters = 0;
    return lost;
  }
}
