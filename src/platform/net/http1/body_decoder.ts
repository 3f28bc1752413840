import type { Framing } from "./response_head.ts";

/** Extracts a body from the bytes of a connection and removes the chunked coding. One decoder per response. */
export interface BodyDecoder {
  /**
   * Decodes the bytes of one read.
   *
   * @param wire The bytes may be overwritten: the payloads of several chunks are joined in place.
   * @param start Where the read begins in `wire`. Default: 0.
   * @param end Where it ends. Default: at the end of `wire`.
   * @returns A view into `wire` with the payload; empty if the read contained framing only.
   * @throws {TypeError} If the framing is invalid.
   */
  decode(wire: Uint8Array<ArrayBuffer>, start?: number, end?: number): Uint8Array<ArrayBuffer>;
  /** True once the whole body was read. */
  readonly done: boolean;
  /**
   * True if there were bytes after the end of the body. They belong to no request, so the connection must not be
   * reused.
   */
  readonly hasExcess: boolean;
  /** True if the body legitimately ends with the connection. */
  readonly endsByClose: boolean;
}

/** Creates the decoder for a framing. */
export function bodyDecoder(framing: Framing): BodyDecoder {
  switch (framing.kind) {
    case "length":
      return new LengthDecoder(framing.bytes);
    case "chunked":
      return new ChunkedDecoder();
    case "until_close":
      return { decode: viewOf, done: false, hasExcess: false, endsByClose: true };
  }
}

/** A part of a buffer; the buffer itself if that is all of it. */
function viewOf(bytes: Uint8Array<ArrayBuffer>, start = 0, end = bytes.length): Uint8Array<ArrayBuffer> {
  return start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
}

class LengthDecoder implements BodyDecoder {
  readonly endsByClose = false;
  hasExcess = false;
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get done(): boolean {
    return this.#left === 0;
  }

  decode(wire: Uint8Array<ArrayBuffer>, start = 0, end = wire.length): Uint8Array<ArrayBuffer> {
    if (end - start > this.#left) this.hasExcess = true;
    const payload = viewOf(wire, start, this.hasExcess ? start + this.#left : end);
    this.#left -= payload.length;
    return payload;
  }
}

const CR = 13;
const LF = 10;
const TAB = 9;
const SPACE = 32;
const SEMICOLON = 59;
const DELETE = 127;
const MAX_CHUNK_BYTES = 2 ** 40;
/** The maximum length of a chunk size line, including extensions. */
const MAX_SIZE_LINE_BYTES = 4_096;
/** The maximum size of all trailer fields together. */
const MAX_TRAILER_BYTES = 16_384;

/**
 * RFC 9112, 7.1. `size` reads hexadecimal digits; `extension` skips to the end of the size line; `payload` copies;
 * `trailer` is the start of a trailer line, `trailer_field` the rest of one; each `…_lf` expects the LF after a CR;
 * `done`.
 */
type ChunkState =
  | "size"
  | "extension"
  | "size_lf"
  | "payload"
  | "payload_cr"
  | "payload_lf"
  | "trailer"
  | "trailer_field"
  | "trailer_lf"
  | "end_lf"
  | "done";

class ChunkedDecoder implements BodyDecoder {
  readonly endsByClose = false;
  hasExcess = false;
  #state: ChunkState = "size";
  #size = 0;
  #lineBytes = 0;
  #trailerBytes = 0;

  get done(): boolean {
    return this.#state === "done";
  }

  decode(wire: Uint8Array<ArrayBuffer>, start = 0, end = wire.length): Uint8Array<ArrayBuffer> {
    // The first payload stays where it is, so that a read of one chunk moves no byte.
    let first = start;
    let write = start;
    let read = start;
    while (read < end) {
      if (this.#state === "payload") {
        const take = Math.min(this.#size, end - read);
        if (write === first) first = write = read;
        else if (write !== read) wire.copyWithin(write, read, read + take);
        write += take;
        read += take;
        this.#size -= take;
        if (this.#size === 0) this.#state = "payload_cr";
      } else if (this.#state === "done") {
        this.hasExcess = true;
        break;
      } else {
        const byte = wire[read++];
        if (byte === undefined) break;
        this.#state = this.#after(byte);
      }
    }
    return wire.subarray(first, write);
  }

  /** The state after one byte of framing. */
  #after(byte: number): ChunkState {
    switch (this.#state) {
      case "size":
        return this.#afterSize(byte);
      case "extension":
        if (++this.#lineBytes > MAX_SIZE_LINE_BYTES) throw broken();
        return byte === CR ? "size_lf" : textOf(byte, "extension");
      case "size_lf":
        return lineFeedOf(byte, this.#size === 0 ? "trailer" : "payload");
      case "payload_cr":
        if (byte !== CR) throw broken();
        return "payload_lf";
      case "payload_lf":
        this.#lineBytes = 0;
        return lineFeedOf(byte, "size");
      case "trailer":
      case "trailer_field":
        if (++this.#trailerBytes > MAX_TRAILER_BYTES) throw broken();
        if (byte === CR) return this.#state === "trailer" ? "end_lf" : "trailer_lf";
        return textOf(byte, "trailer_field");
      case "trailer_lf":
        return lineFeedOf(byte, "trailer");
      default:
        return lineFeedOf(byte, "done");
    }
  }

  #afterSize(byte: number): ChunkState {
    const digit = hexadecimalDigit(byte);
    if (digit >= 0) {
      this.#size = this.#size * 16 + digit;
      if (++this.#lineBytes > MAX_SIZE_LINE_BYTES || this.#size > MAX_CHUNK_BYTES) throw broken();
      return "size";
    }
    if (this.#lineBytes === 0) throw broken();
    if (byte === CR) return "size_lf";
    if (byte === SEMICOLON || byte === SPACE || byte === TAB) return "extension";
    throw broken();
  }
}

function lineFeedOf(byte: number, next: ChunkState): ChunkState {
  if (byte !== LF) throw broken();
  return next;
}

function textOf(byte: number, next: ChunkState): ChunkState {
  if ((byte < SPACE && byte !== TAB) || byte === DELETE) throw broken();
  return next;
}

function hexadecimalDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

function broken(): TypeError {
  return new TypeError("Cannot read a response: broken chunk framing");
}
