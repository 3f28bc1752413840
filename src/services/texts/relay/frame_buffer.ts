import { MAX_IMAGE_FRAME_BYTES } from "../../../platform/lib/streams/sse.ts";
import type { FrameMemory } from "../memory/frame_memory.ts";
import { framesIn, isCompleteData, isEndMarker, lastFrameEnd } from "./stream_frames.ts";

/** The last characters of data that may be complete. It is checked first because it is cheap. */
const WHOLE_END = /[}\]]\s*$/;

const DATA = "data:";
const OTHER_THAN_LINE_END = /[^\r\n]/;

/** The most characters of an empty line and the end of the line before it that can be in an earlier read. */
const MAX_EMPTY_LINE_CHARACTERS = 3;

/** The first characters of a line, which tell whether it is data. */
const LINE_HEAD_CHARACTERS = DATA.length;

/**
 * Holds the beginning of a frame until its end arrives. A frame ends with its empty line, or with a line whose data is
 * complete: some vendors omit the empty line, or send it later. Create one per stream.
 */
export class FrameBuffer {
  #held = "";
  /**
   * The last characters of the held text, in which an empty line may begin. Searching the whole text at each read would
   * be slow.
   */
  #seam = "";
  /** The first characters of the line that has not ended: whether it is data does not depend on the rest. */
  #lineHead = "";
  /** Whether the held text has data on several lines, which only an empty line ends. */
  #isFolded = false;

  /** @param memory Counts the held text. */
  constructor(readonly memory: Pick<FrameMemory, "hold">) {}

  /**
   * Returns the frames that a read completes, empty if it completes none. If nothing was held, they are the first part
   * of the read.
   *
   * @param text Latin-1.
   * @throws {RangeError} For a frame of more than {@linkcode MAX_IMAGE_FRAME_BYTES}.
   * @throws {GatewayError} `overloaded` if there is no memory for it.
   */
  push(text: string): string {
    // Most reads are whole frames, or contain no line end.
    if (this.#held === "" && (text.endsWith("\n\n") || text.endsWith("\r\n\r\n"))) return text;
    const seam = this.#seam + text;
    if (!text.includes("\n") && !text.includes("\r")) {
      this.#add(text, seam);
      return "";
    }
    const end = lastFrameEnd(seam) - this.#seam.length;
    if (end > 0) {
      const frames = this.#held + text.slice(0, end);
      const rest = text.slice(end);
      this.#clear();
      if (rest === "") return frames;
      this.#add(rest, rest);
      return frames + this.#closedByData(rest);
    }
    const lines = this.#lineHead + text;
    this.#add(text, seam);
    return this.#closedByData(lines);
  }

  /** Returns the held text when the stream ends. */
  end(): string {
    const rest = this.#held;
    this.#clear();
    return rest;
  }

  #clear(): void {
    this.#isFolded = false;
    this.#held = this.#seam = this.#lineHead = "";
    this.memory.hold(0);
  }

  #add(text: string, seam: string): void {
    const held = this.#held + text;
    if (held.length > MAX_IMAGE_FRAME_BYTES) {
      throw new RangeError(`Stream event exceeds ${MAX_IMAGE_FRAME_BYTES} bytes`);
    }
    this.memory.hold(held.length);
    const lineStart = lastLineEnd(text);
    const line = lineStart > 0 ? text.slice(lineStart) : this.#lineHead + text;
    this.#lineHead = line.slice(0, LINE_HEAD_CHARACTERS);
    this.#held = held;
    this.#seam = seam.slice(-MAX_EMPTY_LINE_CHARACTERS);
  }

  /**
   * Removes and returns the held text up to its last whole line, if that line is complete data or a late empty line.
   *
   * @param lines What was added last, after the start of the line that it continues. It shows in most cases that this
   * is not so: a search of the whole held text at each read would be slow.
   */
  #closedByData(lines: string): string {
    if (this.#isFolded || !this.#mayClose(lines)) return "";
    const held = this.#held;
    const end = lastLineEnd(held);
    if (end === 0 || !this.#isClosed(held.slice(0, end))) return "";
    const rest = held.slice(end);
    this.#clear();
    if (rest !== "") this.#add(rest, rest);
    return held.slice(0, end);
  }

  /** Whether the last whole line of a text is data, or the text is all that is held and has only empty lines. */
  #mayClose(lines: string): boolean {
    const whole = lines.slice(0, lastLineEnd(lines));
    const before = whole.trimEnd();
    if (before === "") return lines.length === this.#held.length && !OTHER_THAN_LINE_END.test(whole);
    return before.startsWith(DATA, lastLineEnd(before));
  }

  #isClosed(lines: string): boolean {
    const { data = null } = framesIn(lines).at(-1) ?? {};
    // An empty line that arrived late.
    if (data === null) return true;
    const isWhole = isEndMarker(data) || (WHOLE_END.test(data) && isCompleteData(data));
    this.#isFolded = data.includes("\n") || !isWhole;
    return !this.#isFolded;
  }
}

/** The position after the last LF or CR; 0 if there is none. */
function lastLineEnd(text: string): number {
  return Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
}
