import { Buffer } from "node:buffer";
import { createParser, type EventSourceParser } from "eventsource-parser";
import type { Frame } from "./frame.ts";
import { Utf8Decoder } from "../bytes/utf8_decoder.ts";

/** Splits the bytes of a server-sent event stream into frames. One reader per stream. */
export interface FrameReader {
  /**
   * Returns the frames that these bytes complete.
   *
   * @throws {RangeError} If a frame exceeds the limit. The stream cannot be read further.
   */
  push(bytes: Uint8Array): Frame[];
  /** Returns the last frame if the stream ended without its blank line. */
  end(): Frame[];
}

/** Options of {@linkcode createFrameReader}. */
export interface FrameReaderOptions {
  /** The maximum length of an incomplete frame in characters. Default 1,048,576. Image streams need more. */
  readonly maxFrameCharacters?: number;
}

const MAX_FRAME_CHARACTERS = 1_048_576;

/** The maximum size of a frame that may contain a picture as base64. */
export const MAX_IMAGE_FRAME_BYTES = 33_554_432;

/**
 * Creates a reader that follows the HTML standard ("Parsing an event stream"). Lines end in LF, CR or CRLF. Comments
 * and a byte order mark are ignored, and several `data` lines are joined. The frames do not depend on how the bytes are
 * split. Unlike a browser it returns an unterminated last frame, since some vendors send one.
 */
export function createFrameReader(options: FrameReaderOptions = {}): FrameReader {
  const decoder = new Utf8Decoder();
  const longest = options.maxFrameCharacters ?? MAX_FRAME_CHARACTERS;
  let frames: Frame[] = [];
  let overflowed = false;
  /** The characters since the last frame. The parser holds no more than these. */
  let characters = 0;
  // Without `onError`: the parser would make an error with a stack for each line of an unknown field.
  const parser = createParser({
    maxBufferSize: longest,
    onEvent: ({ event, data }) => frames.push({ event: event ?? null, data }),
  });

  function feed(text: string): Frame[] {
    if (!overflowed) parser.feed(text);
    characters = frames.length > 0 ? text.length : characters + text.length;
    if (characters > longest) overflowed ||= isTerminated(parser);
    if (overflowed) throw new RangeError(`Cannot read a frame of more than ${longest} characters`);
    const complete = frames;
    frames = [];
    return complete;
  }

  return {
    push: (bytes) => feed(decoder.decode(bytes)),
    // Ends an incomplete line, then the frame. The third line end is needed if the first one belongs to a preceding CR.
    end: () => feed(`${decoder.end()}\n\n\n`),
  };
}

/** Whether a parser has ended because it holds more than its limit. It then refuses even an empty text. */
function isTerminated(parser: EventSourceParser): boolean {
  try {
    parser.feed("");
    return false;
  } catch {
    return true;
  }
}

/** Serialises a frame. Data of several lines becomes several `data` lines. */
export function writeFrame({ event, data }: Frame): string {
  const name = event === null ? "" : `event: ${event}\n`;
  if (!data.includes("\n") && !data.includes("\r")) return `${name}data: ${data}\n\n`;
  return `${name}${data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`).join("")}\n`;
}

/** Serialises several frames. */
export function writeFrames(frames: readonly Frame[]): string {
  let text = "";
  for (const frame of frames) text += writeFrame(frame);
  return text;
}

/** Serialises several frames to bytes. */
export function encodeFrames(frames: readonly Frame[]): Uint8Array<ArrayBuffer> {
  return Buffer.from(writeFrames(frames)) as Uint8Array<ArrayBuffer>;
}

/** Writes the values of a stream as one JSON array that can be read while it grows. One writer per stream. */
export interface ListWriter {
  /** @param values JSON texts. */
  write(values: readonly string[]): string;
  /** Closes the array. The result is valid JSON even if nothing was written. */
  end(): string;
}

/**
 * Creates the writer for a content stream requested without `alt=sse`. Source: Gemini API reference,
 * "streamGenerateContent".
 */
export function createListWriter(): ListWriter {
  let opening = "[";
  return {
    write(values) {
      if (values.length === 0) return "";
      const text = opening + values.join("\n,\r\n");
      opening = "\n,\r\n";
      return text;
    },
    end: () => opening === "[" ? "[]" : "\n]",
  };
}
