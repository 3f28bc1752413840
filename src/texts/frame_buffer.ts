import { MAX_PICTURE_FRAME_BYTES } from "../lib/sse.ts";
import type { FrameMemory } from "./frame_memory.ts";
import { framesIn, isWholeData, lastFrameEnd } from "./stream_frames.ts";

/** How data ends that may be whole: looked at first, as it is cheap. */
const WHOLE_END = /[}\]]\s*$/;

/**
 * Holds the beginning of a frame until its end has come. A frame ends with its empty line, or with a line whose data is
 * whole by itself: some vendors leave the empty line out, or send it later. One per stream.
 */
export class FrameBuffer {
  #held = "";
  /**
   * The last signs of what is held, in which an empty line may begin: to search all of it with each read would be slow.
   */
  #seam = "";
  /** What is held has data in several lines, which nothing but an empty line ends. */
  #isFolded = false;

  /** @param memory Counts what is held. */
  constructor(readonly memory: Pick<FrameMemory, "hold">) {}

  /** True when nothing is held. */
  get isEmpty(): boolean {
    return this.#held === "";
  }

  /**
   * The frames that a read completes; empty when it completes none. Where nothing was held, they are its beginning.
   *
   * @param text Latin-1.
   * @throws {RangeError} For a frame of more than {@linkcode MAX_PICTURE_FRAME_BYTES}.
   * @throws {GatewayError} `overloaded` when there is no room for it.
   */
  push(text: string): string {
    // Most reads are whole frames, or hold no end of a line at all.
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
      return rest === "" ? frames : frames + this.#closedByData();
    }
    this.#hold(this.#held + text, seam.slice(-3), this.#isFolded);
    return this.#closedByData();
  }

  /** Gives what is held when the stream ends. */
  end(): string {
    const rest = this.#held;
    this.#hold("", "", false);
    return rest;
  }

  #hold(rest: string, seam: string, isFolded: boolean): void {
    if (rest.length > MAX_PICTURE_FRAME_BYTES) {
      throw new RangeError(`Cannot read a stream event of more than ${MAX_PICTURE_FRAME_BYTES} bytes`);
    }
    this.memory.hold(rest.length);
    this.#held = rest;
    this.#seam = seam;
    this.#isFolded = isFolded;
  }

  /**
   * Takes out what is held up to its last whole line, if that is data that is whole, or an empty line that came late.
   */
  #closedByData(): string {
    const held = this.#held;
    const end = Math.max(held.lastIndexOf("\n"), held.lastIndexOf("\r")) + 1;
    if (end === 0 || this.#isFolded || !isDataOrBlank(held, end) || !this.#isClosed(held.slice(0, end))) return "";
    const rest = held.slice(end);
    this.#hold(rest, rest.slice(-3), false);
    return held.slice(0, end);
  }

  #isClosed(lines: string): boolean {
    const { data } = framesIn(lines).at(-1)!;
    // An empty line that came late.
    if (data === null) return !/[^\r\n]/.test(lines);
    const isWhole = data.startsWith("[DONE]") || (WHOLE_END.test(data) && isWholeData(data));
    this.#isFolded = data.includes("\n") || !isWhole;
    return !this.#isFolded;
  }
}

/** Whether the line that ends at a place is empty or begins as data does: a cheap look at most of what cuts part. */
function isDataOrBlank(text: string, end: number): boolean {
  const before = text.slice(0, end).trimEnd();
  const start = Math.max(before.lastIndexOf("\n"), before.lastIndexOf("\r")) + 1;
  return before === "" || before.startsWith("data", start);
}
