import { MAX_IMAGE_FRAME_BYTES } from "../../../platform/lib/streams/sse.ts";
import type { FrameMemory } from "../memory/frame_memory.ts";
import { framesIn, isCompleteData, lastFrameEnd } from "./stream_frames.ts";

/** The last characters of data that may be complete. It is checked first because it is cheap. */
const WHOLE_END = /[}\]]\s*$/;

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
      this.#hold(this.#held + text, seam.slice(-3), this.#isFolded);
      return "";
    }
    const end = lastFrameEnd(seam) - this.#seam.length;
    if (end > 0) {
      const frames = this.#held + text.slice(0, end);
      const rest = text.slice(end);
      this.#hold(rest, rest.slice(-3), false);
      return rest === "" ? frames : frames + this.#closedByData(rest);
    }
    this.#hold(this.#held + text, seam.slice(-3), this.#isFolded);
    return this.#closedByData(text);
  }

  /** Returns the held text when the stream ends. */
  end(): string {
    const rest = this.#held;
    this.#hold("", "", false);
    return rest;
  }

  #hold(rest: string, seam: string, isFolded: boolean): void {
    if (rest.length > MAX_IMAGE_FRAME_BYTES) {
      throw new RangeError(`Stream event exceeds ${MAX_IMAGE_FRAME_BYTES} bytes`);
    }
    this.memory.hold(rest.length);
    this.#held = rest;
    this.#seam = seam;
    this.#isFolded = isFolded;
  }

  /**
   * Removes and returns the held text up to its last whole line, if that line is complete data or a late empty line.
   *
   * @param text The last part of the held text. In most cases it shows that this is not so; a search of the whole text
   * at each read would be slow.
   */
  #closedByData(text: string): string {
    if (this.#isFolded || endsWithOtherLine(text)) return "";
    const held = this.#held;
    const end = lastLineEnd(held);
    if (end === 0 || !isDataOrBlank(held, end) || !this.#isClosed(held.slice(0, end))) return "";
    const rest = held.slice(end);
    this.#hold(rest, rest.slice(-3), false);
    return held.slice(0, end);
  }

  #isClosed(lines: string): boolean {
    const { data } = framesIn(lines).at(-1)!;
    // An empty line that arrived late.
    if (data === null) return !/[^\r\n]/.test(lines);
    const isWhole = data.startsWith("[DONE]") || (WHOLE_END.test(data) && isCompleteData(data));
    this.#isFolded = data.includes("\n") || !isWhole;
    return !this.#isFolded;
  }
}

/** Whether the last whole line of a text that is not empty begins in it, and is not data. */
function endsWithOtherLine(text: string): boolean {
  const before = text.slice(0, lastLineEnd(text)).trimEnd();
  const start = lastLineEnd(before);
  return start > 0 && !before.startsWith("data", start);
}

/**
 * Whether the line that ends at a position is empty or begins like data. It is a cheap check for most of the lines at
 * which reads are split.
 */
function isDataOrBlank(text: string, end: number): boolean {
  const before = text.slice(0, end).trimEnd();
  return before === "" || before.startsWith("data", lastLineEnd(before));
}

/** The position after the last LF or CR; 0 if there is none. */
function lastLineEnd(text: string): number {
  return Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
}
