import { createParser } from "eventsource-parser";
import type { Frame } from "./frame.ts";

/** Cuts the bytes of a server-sent event stream into frames. One per stream. */
export interface FrameReader {
  /**
   * The frames that these bytes complete.
   *
   * @throws {RangeError} If a frame grows beyond the cap; the stream cannot be read on.
   */
  push(bytes: Uint8Array): Frame[];
  /** The frame that the stream ended in without its blank line, if there is one. */
  end(): Frame[];
}

/** What a frame may hold. */
export interface FrameReaderOptions {
  /** The most characters of one frame that is not complete yet. Default 1,048,576; streams of images need more. */
  readonly maxFrameCharacters?: number;
}

const MAX_FRAME_CHARACTERS = 1_048_576;

/** The most bytes of one frame that may hold a picture as base64. */
export const MAX_PICTURE_FRAME_BYTES = 33_554_432;

/**
 * Reads frames as the HTML standard says ("Parsing an event stream"): lines end in LF, CR or CRLF, comments and a byte
 * order mark are passed over, several `data` lines make one text. Equal bytes give equal frames however they are cut.
 * Unlike a browser it gives a last frame that nothing ends, since vendors send such.
 */
export function createFrameReader(options: FrameReaderOptions = {}): FrameReader {
  const decoder = new TextDecoder();
  const longest = options.maxFrameCharacters ?? MAX_FRAME_CHARACTERS;
  let frames: Frame[] = [];
  let overflowed = false;
  const parser = createParser({
    maxBufferSize: longest,
    onEvent: ({ event, data }) => frames.push({ event: event ?? null, data }),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") overflowed = true;
    },
  });

  function feed(text: string): Frame[] {
    if (!overflowed) parser.feed(text);
    if (overflowed) throw new RangeError(`Cannot read a frame of more than ${longest} characters`);
    const complete = frames;
    frames = [];
    return complete;
  }

  return {
    push: (bytes) => feed(decoder.decode(bytes, { stream: true })),
    // Ends a broken-off line, then the frame; a third end of line in case the first one belongs to a CR before it.
    end: () => feed(`${decoder.decode()}\n\n\n`),
  };
}

/** One frame as it is sent; data of several lines becomes several `data` lines. */
export function writeFrame({ event, data }: Frame): string {
  const name = event === null ? "" : `event: ${event}\n`;
  if (!/[\r\n]/.test(data)) return `${name}data: ${data}\n\n`;
  return `${name}${data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`).join("")}\n`;
}

/** Several frames as bytes. */
export function encodeFrames(frames: readonly Frame[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(frames.map(writeFrame).join(""));
}

/** Writes the values of a stream as one JSON list that can be read while it grows. One per stream. */
export interface ListWriter {
  /** @param values JSON texts. */
  write(values: readonly string[]): string;
  /** Closes the list; the whole is valid JSON also when nothing was written. */
  end(): string;
}

/**
 * The form of a content stream that was asked for without `alt=sse`. Source: Gemini API reference,
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

const encoder = new TextEncoder();
