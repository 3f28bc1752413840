import { type Clock, systemClock, waitAtMost } from "../basics/clock.ts";

/** Writes lines to a standard stream of this process. No call blocks, and none throws. */
export interface LineWriter {
  /**
   * Queues one line, given without its line end. The line is dropped and counted if {@linkcode MAX_QUEUED_CHARACTERS}
   * are queued already.
   *
   * @param isUrgent True starts the write at once, including all earlier lines. An urgent line may use a reserve of
   * {@linkcode URGENT_RESERVE_CHARACTERS} beyond the limit.
   */
  write(line: string, isUrgent: boolean): void;
  /** Resolves when every line is written or dropped, at the latest after `timeoutMs`. Never rejects. */
  flush(timeoutMs: number): Promise<void>;
}

/** Options of {@linkcode createLineWriter}. */
export interface LineWriterOptions {
  /**
   * Writes some of the bytes and resolves with their number, as `Deno.stderr.write` does. Called again only after it
   * settles.
   */
  readonly write: (bytes: Uint8Array) => Promise<number>;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** The line that reports dropped lines, without its end. Default: they are not reported. */
  readonly droppedLine?: (count: number) => string;
}

/** The maximum number of queued characters while the stream accepts nothing. */
export const MAX_QUEUED_CHARACTERS = 1_048_576;
/** The reserve for urgent lines beyond {@linkcode MAX_QUEUED_CHARACTERS}. */
export const URGENT_RESERVE_CHARACTERS = 262_144;

const GATHER_MS = 40;
/** A batch of this many characters is written at once. */
const MAX_GATHERED_CHARACTERS = 262_144;
/** The pause before a retry of a stream that another process made non-blocking. */
const WOULD_BLOCK_PAUSE_MS = 50;
const NEWLINE = 0x0a;

/**
 * Creates a writer that batches the lines of {@linkcode GATHER_MS}. A write wakes a thread of the platform, which costs
 * more than producing the lines of several requests.
 *
 * write(line) → queue (bounded) → one write at a time → written, or dropped and counted
 *
 * A pipe without a reader blocks the current write, not the process. Lines are queued up to the limit; further lines
 * are dropped. A failed write (EPIPE, ENOSPC, EIO, EBADF) loses its lines. The next successful write reports the count.
 */
export function createLineWriter(options: LineWriterOptions): LineWriter {
  const writer = new QueuedWriter(options.write, options.clock ?? systemClock, options.droppedLine ?? null);
  return { write: (line, isUrgent) => writer.take(line, isUrgent), flush: (timeoutMs) => writer.flush(timeoutMs) };
}

class QueuedWriter {
  readonly #encoder = new TextEncoder();
  #queue = "";
  #dropped = 0;
  /** The last write ended within a line, so the next one starts with a line end. */
  #isMidLine = false;
  #isTimed = false;
  /** Whether the queue is written without waiting for more lines. */
  #isHurried = false;
  #writing: Promise<void> | null = null;

  constructor(
    private readonly writeBytes: (bytes: Uint8Array) => Promise<number>,
    private readonly clock: Clock,
    private readonly droppedLine: ((count: number) => string) | null,
  ) {}

  take(line: string, isUrgent: boolean): void {
    const bound = isUrgent ? MAX_QUEUED_CHARACTERS + URGENT_RESERVE_CHARACTERS : MAX_QUEUED_CHARACTERS;
    if (this.#queue.length + line.length + 1 > bound) return void this.#dropped++;
    this.#queue += `${line}\n`;
    this.#isHurried ||= isUrgent;
    if (this.#isDue) this.#start();
    else this.#startSoon();
  }

  async flush(timeoutMs: number): Promise<void> {
    this.#isHurried = this.#queue !== "";
    this.#start();
    if (this.#writing !== null) await waitAtMost(this.clock, timeoutMs, this.#writing);
  }

  get #isDue(): boolean {
    return this.#isHurried || this.#queue.length > MAX_GATHERED_CHARACTERS;
  }

  #startSoon(): void {
    if (this.#isTimed || this.#writing !== null) return;
    this.#isTimed = true;
    this.clock.after(GATHER_MS, () => {
      this.#isTimed = false;
      this.#start();
    });
  }

  /** The first write is called before this returns. */
  #start(): void {
    if (this.#writing !== null || this.#queue === "") return;
    this.#writing = this.#drain().then(() => {
      this.#writing = null;
      if (this.#queue !== "") this.#startSoon();
    });
  }

  /** Writes batches until no more is due or a write fails. */
  async #drain(): Promise<void> {
    // Ends when no line came during a write: whoever writes lines too fast loses them.
    do {
      const report = this.#dropped > 0 && this.droppedLine !== null ? `${this.droppedLine(this.#dropped)}\n` : "";
      const reported = report === "" ? 0 : this.#dropped;
      const head = this.#encoder.encode((this.#isMidLine ? "\n" : "") + report);
      const lines = this.#encoder.encode(this.#queue);
      this.#queue = "";
      this.#isHurried = false;
      const batch = new Uint8Array(head.length + lines.length);
      batch.set(head);
      batch.set(lines, head.length);
      const written = await this.#writeAll(batch);
      if (written > 0) this.#isMidLine = batch[written - 1] !== NEWLINE;
      // The report is complete even without its line end, since the next write starts with one.
      if (written >= head.length - 1) this.#dropped -= reported;
      this.#dropped += lineEndsIn(batch.subarray(Math.max(written, head.length)));
      if (written < batch.length) return;
    } while (this.#isDue || (this.#dropped > 0 && this.droppedLine !== null));
  }

  /** Returns the number of bytes written: all of them unless the stream failed. */
  async #writeAll(bytes: Uint8Array): Promise<number> {
    let written = 0;
    while (written < bytes.length) {
      try {
        const count = await this.writeBytes(bytes.subarray(written));
        if (count <= 0) break;
        written += count;
      } catch (error) {
        if (!(error instanceof Deno.errors.WouldBlock)) break;
        await new Promise<void>((resolve) => void this.clock.after(WOULD_BLOCK_PAUSE_MS, resolve));
      }
    }
    return written;
  }
}

function lineEndsIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}
