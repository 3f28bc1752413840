import { bytesOfLatin1, latin1Of } from "../texts/stream_lines.ts";

/** A block of an event stream: what a blank line ends. */
export interface EventBlock {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** False for a comment, such as a heartbeat. */
  readonly isEvent: boolean;
}

/** A longer block is passed on in pieces, as if each were one. */
const MAX_BLOCK_CHARACTERS = 64_000_000;
const MAX_END_CHARACTERS = 4;

/**
 * Cuts an event stream into its blocks and gives each event an id: 1, 2, 3 and so on. A block that the stream does not
 * end is the last one. Source: HTML standard, "Server-sent events".
 */
export class EventSplitter {
  #rest = "";
  #searchedTo = 0;
  #lastId = 0;

  /** Returns the blocks that these bytes complete. */
  push(bytes: Uint8Array<ArrayBuffer>): EventBlock[] {
    this.#rest += latin1Of(bytes);
    const blocks: EventBlock[] = [];
    const ends = /\n\n|\r\n\r\n|\n\r\n|\r\r/g;
    let start = 0;
    ends.lastIndex = this.#searchedTo;
    while (ends.exec(this.#rest) !== null) {
      blocks.push(this.#blockOf(this.#rest.slice(start, ends.lastIndex)));
      start = ends.lastIndex;
    }
    this.#rest = this.#rest.slice(start);
    if (this.#rest.length > MAX_BLOCK_CHARACTERS) blocks.push(...this.end());
    this.#searchedTo = Math.max(0, this.#rest.length - MAX_END_CHARACTERS + 1);
    return blocks;
  }

  /** Returns what the stream did not end. */
  end(): EventBlock[] {
    const rest = this.#rest;
    this.#rest = "";
    return rest === "" ? [] : [this.#blockOf(rest)];
  }

  #blockOf(text: string): EventBlock {
    const content = text.trimEnd();
    const isEvent = content.split(/\r\n|\r|\n/).some((line) => line !== "" && !line.startsWith(":"));
    if (!isEvent) return { bytes: bytesOfLatin1(text), isEvent };
    // The last `id` of a block counts, so that one of the vendor does not replace it.
    const lineEnd = text.endsWith("\r\n") ? "\r\n" : "\n";
    return { bytes: bytesOfLatin1(`${content}${lineEnd}id: ${++this.#lastId}${lineEnd}${lineEnd}`), isEvent };
  }
}
