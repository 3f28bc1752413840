import type { Framing } from "./response_head.ts";

/** Takes a body's bytes off the wire, removing the chunked coding where there is one. One per response. */
export interface BodyDecoder {
  /**
   * Decodes what one read gave.
   *
   * @param wire A view whose bytes may be overwritten: payloads of several chunks are moved together in place.
   * @returns A view into `wire` with the payload, empty when the read held framing only.
   * @throws {TypeError} If the framing is broken.
   */
  decode(wire: Uint8Array): Uint8Array;
  /** True once the whole body was seen. */
  readonly done: boolean;
  /** True when the connection closing now is the proper end. */
  readonly endsByClose: boolean;
}

/** The decoder for a framing. */
export function bodyDecoder(framing: Framing): BodyDecoder {
  switch (framing.kind) {
    case "length":
      return new LengthDecoder(framing.bytes);
    case "chunked":
      return new ChunkedDecoder();
    case "until_close":
      return { decode: (wire) => wire, done: false, endsByClose: true };
  }
}

class LengthDecoder implements BodyDecoder {
  readonly endsByClose = false;
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get done(): boolean {
    return this.#left === 0;
  }

  decode(wire: Uint8Array): Uint8Array {
    if (wire.length > this.#left) throw new TypeError("Cannot read a response: bytes beyond its length");
    this.#left -= wire.length;
    return wire;
  }
}

const CR = 13;
const LF = 10;
const SEMICOLON = 59;
const LARGEST_CHUNK = 2 ** 40;

/**
 * RFC 9112, 7.1. States: `size` reads hexadecimal digits; `extension` skips to the end of the size line; `payload`
 * copies; `payload_end` expects CR LF; `trailer` skips lines up to an empty one; `done`.
 */
class ChunkedDecoder implements BodyDecoder {
  readonly endsByClose = false;
  #state: "size" | "extension" | "payload" | "payload_end" | "trailer" | "done" = "size";
  #size = 0;
  #digits = 0;
  #trailerLine = 0;

  get done(): boolean {
    return this.#state === "done";
  }

  decode(wire: Uint8Array): Uint8Array {
    let write = 0;
    let read = 0;
    while (read < wire.length) {
      if (this.#state === "payload") {
        const take = Math.min(this.#size, wire.length - read);
        if (write !== read) wire.copyWithin(write, read, read + take);
        write += take;
        read += take;
        this.#size -= take;
        if (this.#size === 0) this.#state = "payload_end";
      } else {
        this.#readFraming(wire[read++]);
      }
    }
    return wire.subarray(0, write);
  }

  #readFraming(byte: number): void {
    switch (this.#state) {
      case "size":
        return this.#readSize(byte);
      case "extension":
        if (byte === LF) this.#endSizeLine();
        return;
      case "payload_end":
        if (byte === LF) this.#startSize();
        else if (byte !== CR) throw broken();
        return;
      case "trailer":
        if (byte === LF) {
          if (this.#trailerLine === 0) this.#state = "done";
          this.#trailerLine = 0;
        } else if (byte !== CR) this.#trailerLine++;
        return;
      default:
        throw new TypeError("Cannot read a response: bytes beyond its end");
    }
  }

  #readSize(byte: number): void {
    const digit = hexadecimalDigit(byte);
    if (digit >= 0) {
      this.#size = this.#size * 16 + digit;
      this.#digits++;
      if (this.#size > LARGEST_CHUNK) throw broken();
    } else if (this.#digits === 0) throw broken();
    else if (byte === LF) this.#endSizeLine();
    else if (byte === CR || byte === SEMICOLON || byte === 32 || byte === 9) this.#state = "extension";
    else throw broken();
  }

  #endSizeLine(): void {
    this.#state = this.#size === 0 ? "trailer" : "payload";
    this.#trailerLine = 0;
  }

  #startSize(): void {
    this.#state = "size";
    this.#size = 0;
    this.#digits = 0;
  }
}

function hexadecimalDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

function broken(): TypeError {
  return new TypeError("Cannot read a response: broken chunk framing");
}
