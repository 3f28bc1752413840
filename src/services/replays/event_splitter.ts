import { Buffer } from "node:buffer";
import { concatBytes } from "../../platform/lib/bytes/concat_bytes.ts";

/** A block of an event stream: what a blank line ends. */
export interface EventBlock {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** False for comments and blank lines, such as a heartbeat. Those that follow each other can be one block. */
  readonly isEvent: boolean;
}

/** A longer block is passed on in pieces, as if each were one. */
const MAX_BLOCK_BYTES = 64_000_000;
const LF = 10, CR = 13, COLON = 58;

/**
 * Cuts an event stream into its blocks and gives each event an id: 1, 2, 3 and so on. A block that the stream does not
 * end is the last one. Each byte is looked at once, and copied at most twice. Source: HTML standard, "Server-sent
 * events".
 */
export class EventSplitter {
  /** The open block, but for what the current bytes have of it. */
  #parts: Uint8Array<ArrayBuffer>[] = [];
  #partBytes = 0;
  /** The bytes of the open block up to the end of its last line with content. */
  #contentBytes = 0;
  #isEvent = false;
  /** Whether the current line has content. */
  #hasContent = false;
  #lastEnd: "none" | "lf" | "cr" | "crlf" = "none";
  /** Whether the last byte was a CR. A LF that follows belongs to it. */
  #isAfterCr = false;
  /** Whether that CR ends the block, together with the LF that may follow. */
  #endsAfterCr = false;
  #lastId = 0;

  /** Returns the blocks that these bytes complete. */
  push(bytes: Uint8Array<ArrayBuffer>): EventBlock[] {
    const blocks = new Blocks();
    const ends = new LineEnds(bytes);
    /** Where the open block starts in these bytes. */
    let start = 0;
    const endBlock = (end: number) => {
      if (this.#isEvent) blocks.add(this.#eventOf(bytes.subarray(start, end)));
      else blocks.addOther(bytes, start, end, this.#parts);
      this.#reset();
      start = end;
    };
    for (let at = 0; at < bytes.length;) {
      if (this.#endsAfterCr && bytes[at] !== LF) endBlock(at);
      const end = ends.next(at);
      if (end > at) this.#onContent(bytes[at]);
      if (end === bytes.length) break;
      at = end + 1;
      if (this.#onLineEnd(bytes[end], this.#partBytes + end - start)) endBlock(at);
    }
    if (start < bytes.length) this.#hold(bytes.slice(start));
    return this.#partBytes > MAX_BLOCK_BYTES ? [...blocks.all(), ...this.end()] : blocks.all();
  }

  /** Returns what the stream did not end. */
  end(): EventBlock[] {
    if (this.#partBytes === 0) return [];
    if (this.#hasContent) this.#contentBytes = this.#partBytes;
    const block = this.#isEvent ? this.#eventOf(NO_BYTES) : { bytes: concatBytes(this.#parts), isEvent: false };
    this.#reset();
    return [block];
  }

  /** @param first The first byte of the content, if the line has none yet. */
  #onContent(first: number | undefined): void {
    this.#isAfterCr = false;
    if (!this.#hasContent && first !== COLON) this.#isEvent = true;
    this.#hasContent = true;
  }

  /**
   * Returns whether the block ends here.
   *
   * @param blockBytes The bytes of the block before the line end.
   */
  #onLineEnd(byte: number | undefined, blockBytes: number): boolean {
    if (byte === LF && this.#isAfterCr) {
      this.#isAfterCr = false;
      this.#lastEnd = "crlf";
      return this.#endsAfterCr;
    }
    const isBlank = !this.#hasContent;
    if (!isBlank) this.#contentBytes = blockBytes;
    this.#hasContent = false;
    const before = this.#lastEnd;
    this.#isAfterCr = byte === CR;
    this.#lastEnd = byte === CR ? "cr" : "lf";
    if (!isBlank || byte === LF) return isBlank;
    // With a CR for each line, nothing follows. Otherwise a LF may, which belongs to the block.
    this.#endsAfterCr = before !== "cr";
    return before === "cr";
  }

  #eventOf(rest: Uint8Array<ArrayBuffer>): EventBlock {
    // The last `id` of a block counts, so that one of the vendor does not replace it.
    const lineEnd = this.#lastEnd === "crlf" ? "\r\n" : "\n";
    const field = Buffer.from(`${lineEnd}id: ${++this.#lastId}${lineEnd}${lineEnd}`, "latin1");
    const bytes = new Uint8Array(this.#contentBytes + field.length);
    let at = 0;
    for (const part of [...this.#parts, rest]) {
      const content = part.subarray(0, this.#contentBytes - at);
      bytes.set(content, at);
      at += content.length;
    }
    bytes.set(field, at);
    return { bytes, isEvent: true };
  }

  #hold(bytes: Uint8Array<ArrayBuffer>): void {
    this.#parts.push(bytes);
    this.#partBytes += bytes.length;
  }

  /** The state at the start of a block. A LF after a CR still belongs to it. */
  #reset(): void {
    this.#parts = [];
    this.#partBytes = this.#contentBytes = 0;
    this.#isEvent = this.#hasContent = this.#endsAfterCr = false;
    this.#lastEnd = "none";
  }
}

const NO_BYTES = new Uint8Array(0);

/** Blocks in their order. Neighbors without an event become one, so that each blank line is not one. */
class Blocks {
  readonly #blocks: EventBlock[] = [];
  #bytes: Uint8Array<ArrayBuffer> = NO_BYTES;
  #start = 0;
  #end = 0;

  add(block: EventBlock): void {
    this.#endOthers();
    this.#blocks.push(block);
  }

  /** Adds a block without an event: parts of earlier bytes, and a range of these. */
  addOther(
    bytes: Uint8Array<ArrayBuffer>,
    start: number,
    end: number,
    parts: readonly Uint8Array<ArrayBuffer>[],
  ): void {
    if (parts.length > 0) {
      return this.add({ bytes: concatBytes([...parts, bytes.subarray(start, end)]), isEvent: false });
    }
    if (this.#start === this.#end) this.#start = start;
    this.#bytes = bytes;
    this.#end = end;
  }

  all(): EventBlock[] {
    this.#endOthers();
    return this.#blocks;
  }

  #endOthers(): void {
    if (this.#start < this.#end) {
      this.#blocks.push({ bytes: this.#bytes.subarray(this.#start, this.#end), isEvent: false });
    }
    this.#start = this.#end = 0;
  }
}

/** The positions of line ends, found by the platform's search, which is faster than a loop over long lines. */
class LineEnds {
  #lf = -1;
  #cr = -1;

  constructor(readonly bytes: Uint8Array) {}

  /** The first CR or LF from a position on; the length of the bytes if there is none. Positions must rise. */
  next(from: number): number {
    if (this.#lf < from) this.#lf = this.#find(LF, from);
    if (this.#cr < from) this.#cr = this.#find(CR, from);
    return Math.min(this.#lf, this.#cr);
  }

  #find(byte: number, from: number): number {
    const at = this.bytes.indexOf(byte, from);
    return at < 0 ? this.bytes.length : at;
  }
}
