import { textHasMoreValuesThan } from "../../../platform/lib/json/json_values.ts";
import { linesIn } from "./stream_lines.ts";

/**
 * The frames of an event stream as ranges of its text, so that unchanged frames can be sent as received. Source: WHATWG
 * HTML, 9.2.6 "Interpreting an event stream".
 */

/** One frame with its empty line. */
export interface RawFrame {
  /** The position of its first character. */
  readonly start: number;
  /** The position of the next frame. */
  readonly end: number;
  /** The value of its `data` lines, joined by LF. Null for a frame without any, such as a comment. */
  readonly data: string | null;
}

/** A UTF-8 byte order mark decoded as Latin-1. It may come before the first line. */
const BYTE_ORDER_MARK = "\u00ef\u00bb\u00bf";

/**
 * Returns the frames of a text. Together they are the whole text; its end also ends the last frame. A line whose data
 * is complete ends its frame if another data line follows: some vendors omit the empty line, and JSON on several lines
 * is complete only with the last.
 *
 * @param text Latin-1 or decoded.
 */
export function framesIn(text: string): readonly RawFrame[] {
  const only = onlyFrameIn(text);
  if (only !== null) return [only];
  const frames: RawFrame[] = [];
  let start = 0;
  let data: string[] = [];
  const close = (end: number) => {
    if (end > start) frames.push({ start, end, data: data.length === 0 ? null : data.join("\n") });
    start = end;
    data = [];
  };
  for (const line of linesIn(text)) {
    const value = dataOf(line.text);
    if (value !== null) {
      if (data.length === 1 && isCompleteData(data[0]!)) close(line.start);
      data.push(value);
    }
    if (line.text === "") close(line.end);
  }
  close(text.length);
  return frames;
}

/** Returns the frame of a text that is one data line and an empty line. Most reads of some formats are such a text. */
function onlyFrameIn(text: string): RawFrame | null {
  if (!text.startsWith("data:")) return null;
  const { length } = text;
  const lineEnd = text.indexOf("\n");
  const isCrlf = lineEnd === length - 3 && text.endsWith("\r\n\r\n");
  if (!isCrlf && (lineEnd !== length - 2 || !text.endsWith("\n\n"))) return null;
  const end = isCrlf ? lineEnd - 1 : lineEnd;
  const carriageReturn = text.indexOf("\r");
  if (carriageReturn >= 0 && carriageReturn < end) return null;
  return { start: 0, end: length, data: text.slice(text[5] === " " ? 6 : 5, end) };
}

/** Returns the value of a `data` line, or null for any other line. */
function dataOf(line: string): string | null {
  const field = line.startsWith(BYTE_ORDER_MARK) ? line.slice(BYTE_ORDER_MARK.length) : line;
  if (!field.startsWith("data")) return null;
  if (field.length === 4) return "";
  if (field[4] !== ":") return null;
  return field.slice(field[5] === " " ? 6 : 5);
}

/** Data up to this size is parsed regardless of its content. */
const TINY_DATA_CHARACTERS = 65_536;
/** Data up to this size can be a whole reply with the probabilities of its tokens. */
const SMALL_DATA_CHARACTERS = 1_048_576;
const MAX_SMALL_VALUES = 200_000;
const MAX_VALUES = 50_000;

/**
 * Rejects large data that cannot be a reply's, because parsing it would delay other callers. Pictures have few values.
 *
 * @throws {RangeError} For more than 50,000 values in more than a megabyte, or 200,000 in less.
 */
export function rejectManyValues(data: string): void {
  if (data.length <= TINY_DATA_CHARACTERS) return;
  const maxValues = data.length <= SMALL_DATA_CHARACTERS ? MAX_SMALL_VALUES : MAX_VALUES;
  if (!textHasMoreValuesThan(data, maxValues)) return;
  throw new RangeError(`Stream event has more than ${maxValues} JSON values`);
}

/** Whether data is the end marker of chat completions. */
export function isEndMarker(data: string): boolean {
  return data.startsWith("[DONE]");
}

/**
 * Whether data is a complete JSON value or the end marker of chat completions.
 *
 * @throws {RangeError} As {@linkcode rejectManyValues}: only a parser can tell.
 */
export function isCompleteData(data: string): boolean {
  if (isEndMarker(data)) return true;
  rejectManyValues(data);
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the position after the last empty line, or 0 if there is none. A CR always ends its line. A later LF belongs
 * to it and reads as an empty line between frames, which has no effect.
 */
export function lastFrameEnd(text: string): number {
  // JSON contains neither character unescaped, so one search skips most text.
  const last = text.lastIndexOf("\n\n");
  if (!text.includes("\r")) return last < 0 ? 0 : last + 2;
  for (let at = text.length - 1; at > 0; at--) {
    const lineStart = isLineEnd(text, at) ? at - (text[at] === "\n" && text[at - 1] === "\r" ? 1 : 0) : 0;
    if (lineStart > 0 && isLineEnd(text, lineStart - 1)) return at + 1;
  }
  return 0;
}

function isLineEnd(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x0a || code === 0x0d;
}
