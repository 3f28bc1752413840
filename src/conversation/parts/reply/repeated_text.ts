import type { Frame } from "../../../platform/lib/streams/frame.ts";

/** After as many, no more are made: the vendor puts something else that changes into each frame. */
const MAX_UNUSED_PATTERNS = 8;

/**
 * The last member of a frame whose value is random, to hide the length of the text.
 * Source: Chat Completions API reference, `stream_options.include_obfuscation`.
 */
const PADDING_START = ',"obfuscation":"';
const PADDING_END = '"}';

/**
 * Reads the frames of a stream that differ from an earlier frame in one text only, as almost all frames of a reply do.
 * Their text is between the same characters, so nothing else needs to be parsed. One instance per stream.
 */
export class RepeatedText {
  #event: string | null = null;
  /** The frame's data before and after its text, without the text's quotes. Empty while no frame is known. */
  #head = "";
  #tail = "";
  /** Whether the frame ends with padding, which the tail omits. */
  #isPadded = false;
  /** Patterns in a row that no frame was like. */
  #unused = 0;

  /**
   * Makes a frame the pattern of the next ones. The caller ensures that another text in it would change nothing but the
   * text of one delta. A frame in which the text is not unique, or that has escapes, is not used.
   *
   * @param member The name of the member that holds the text.
   * @param text The text as it was read.
   */
  learn({ event, data }: Frame, member: string, text: string): void {
    // Without escapes, every quote delimits a string. So the text is where it was read, and nowhere else.
    if (this.#unused >= MAX_UNUSED_PATTERNS || data.includes("\\")) return;
    const unpadded = withoutPadding(data);
    const read = unpadded ?? data;
    const quoted = `"${text}"`;
    const start = read.indexOf(quoted);
    if (start < 0 || read.lastIndexOf(quoted) !== start) return;
    const head = read.slice(0, start);
    if (!head.endsWith(`"${member}":`) && !head.endsWith(`"${member}": `)) return;
    this.#event = event;
    this.#head = head;
    this.#tail = read.slice(start + quoted.length);
    this.#isPadded = unpadded !== null;
    this.#unused++;
  }

  /** Forgets the pattern: the state of the stream has changed. */
  forget(): void {
    this.#head = "";
  }

  /** The text of a frame like the pattern; null for any other frame, and for an empty text. */
  textIn({ event, data }: Frame): string | null {
    const head = this.#head;
    if (head === "" || event !== this.#event) return null;
    const read = this.#isPadded ? withoutPadding(data) : data;
    // Comparing slices takes half as long as `startsWith`.
    if (read === null || read.slice(0, head.length) !== head) return null;
    const end = read.length - this.#tail.length;
    if (read.slice(end) !== this.#tail) return null;
    const text = textOrNull(read.slice(head.length, end));
    if (text !== null) this.#unused = 0;
    return text;
  }
}

/** A frame's data up to its padding; null if it does not end with any. */
function withoutPadding(data: string): string | null {
  const start = data.lastIndexOf(PADDING_START);
  if (start < 0) return null;
  const padding = data.slice(start + PADDING_START.length);
  const isLast = padding.indexOf('"') === padding.length - PADDING_END.length && padding.endsWith(PADDING_END);
  return isLast && !padding.includes("\\") ? data.slice(0, start) : null;
}

/** The text of a JSON string that is not empty; null for anything else. */
function textOrNull(json: string): string | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "string" && value !== "" ? value : null;
  } catch {
    return null;
  }
}
