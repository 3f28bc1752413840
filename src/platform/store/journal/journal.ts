import type { Log } from "../../lib/basics/log.ts";
import type { MaybePromise } from "../../lib/basics/maybe_promise.ts";
import { JournalWriteError } from "../store_errors.ts";
import { RecordEncoder } from "./record.ts";

/** Where the records of a journal are written. Calls take effect in their order. */
export interface JournalSink {
  /**
   * Appends bytes to a segment. Returns nothing once they are as durable as the sink makes them, otherwise a promise.
   *
   * @param bytes Valid during the call only.
   * @throws {Error} If they cannot be written, thrown or as a rejection. A part of them may be written then.
   */
  append(segment: number, bytes: Uint8Array): MaybePromise<void>;
  /** Removes a segment. A failure is ignored: its records are found in the store when they are replayed. */
  remove(segment: number): void;
  /** Resolves when all earlier calls have taken effect and no file is open. */
  close(): Promise<void>;
}

/** The sink of a journal over a store in memory, which ends with the process, as its journal may. */
export const NO_SINK: JournalSink = { append() {}, remove() {}, close: () => Promise.resolve() };

/** Options of a {@linkcode Journal}. */
export interface JournalOptions {
  readonly log: Log;
  /** The size at which the next segment begins. Default 1 MiB. */
  readonly maxSegmentBytes?: number;
}

const MAX_SEGMENT_BYTES = 1024 * 1024;
/** A segment without held records is replaced when it has this size, so that the replay after a crash is short. */
const MIN_REMOVED_BYTES = 64 * 1024;

/**
 * An append-only journal of texts, in segments. Whoever appends a record holds its segment until the record is durable
 * elsewhere. A segment that is full and not held is removed.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #encoder = new RecordEncoder();
  /** The number of holds on each segment. */
  readonly #holds = new Map<number, number>();
  #sink: JournalSink | null = null;
  #segment = 0;
  #step = 1;
  #bytes = 0;
  #isFailing = false;

  /** A journal that refuses records until it is opened. */
  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /**
   * Opens the journal.
   *
   * @param firstSegment The number of its first segment, above those of all earlier ones.
   * @param step The difference between the numbers of its segments. Default: 1; more if other journals have the numbers
   * in between.
   */
  open(sink: JournalSink, firstSegment: number, step = 1): void {
    this.#sink = sink;
    this.#segment = firstSegment;
    this.#step = step;
  }

  /** The segment of the last append. */
  get segment(): number {
    return this.#segment;
  }

  /**
   * Appends a text without line feeds. Returns nothing if the record is durable, otherwise a promise that resolves once
   * it is. What durable means depends on the sink.
   *
   * @throws {JournalWriteError} If it cannot be written, thrown or as a rejection. The record may exist nevertheless.
   */
  append(text: string): MaybePromise<void> {
    const sink = this.#sink;
    if (sink === NO_SINK) return;
    if (sink === null) throw new JournalWriteError("it is not open");
    if (this.#bytes >= (this.#options.maxSegmentBytes ?? MAX_SEGMENT_BYTES)) this.#startSegment();
    const bytes = this.#encoder.encode(text);
    this.#bytes += bytes.length;
    let written: MaybePromise<void>;
    try {
      written = sink.append(this.#segment, bytes);
    } catch (error) {
      throw this.#noteFailure(error);
    }
    if (!written) return this.#noteSuccess();
    return written.then(() => this.#noteSuccess(), (error) => {
      throw this.#noteFailure(error);
    });
  }

  /** Prevents the removal of the current segment until it is released. */
  hold(): void {
    this.#holds.set(this.#segment, (this.#holds.get(this.#segment) ?? 0) + 1);
  }

  /** Ends one hold of a segment. */
  release(segment: number): void {
    const holds = (this.#holds.get(segment) ?? 0) - 1;
    if (holds > 0) {
      this.#holds.set(segment, holds);
      return;
    }
    this.#holds.delete(segment);
    if (segment !== this.#segment) this.#sink?.remove(segment);
    else if (this.#bytes >= MIN_REMOVED_BYTES) this.#startSegment();
  }

  /** Closes the journal. Its last segment is removed unless it is held. Later appends throw. */
  async close(): Promise<void> {
    if (this.#bytes > 0) this.#startSegment();
    const sink = this.#sink;
    this.#sink = null;
    await sink?.close();
  }

  #startSegment(): void {
    if (!this.#holds.has(this.#segment)) this.#sink?.remove(this.#segment);
    this.#segment += this.#step;
    this.#bytes = 0;
  }

  #noteSuccess(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#options.log.warn("journal_writable", { reason: "the journal takes records again" });
  }

  #noteFailure(error: unknown): JournalWriteError {
    const failure = error instanceof JournalWriteError ? error : new JournalWriteError(String(error), error);
    if (!this.#isFailing) {
      this.#options.log.error("journal_unwritable", {
        reason: `${failure.message}; charges are written to the ledger`,
      });
    }
    this.#isFailing = true;
    return failure;
  }
}
