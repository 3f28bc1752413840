import { Buffer } from "node:buffer";
import { concatBytes } from "./concat_bytes.ts";

const NOTHING = new Uint8Array();
const BYTE_ORDER_MARK = "\ufeff";

/**
 * Decodes UTF-8 that arrives in parts, like a `TextDecoder` with `stream: true`, which takes several times as long for
 * parts of a few hundred bytes. A byte order mark at the start is removed, and invalid bytes become U+FFFD (WHATWG
 * Encoding, "UTF-8 decode"). One decoder per stream.
 */
export class Utf8Decoder {
  /** The first bytes of a character whose other bytes have not arrived. */
  #rest: Uint8Array = NOTHING;
  #isAtStart = true;

  /** Returns the text of all characters that are complete with these bytes. */
  decode(bytes: Uint8Array): string {
    const known = this.#rest.length === 0 ? bytes : concatBytes([this.#rest, bytes]);
    const end = known.length - incompleteBytes(known);
    this.#rest = end === known.length ? NOTHING : known.slice(end);
    return this.#textOf(known, end);
  }

  /** Returns the replacement of a character that was cut off at the end of the stream; usually empty. */
  end(): string {
    const rest = this.#rest;
    this.#rest = NOTHING;
    return this.#textOf(rest, rest.length);
  }

  #textOf(bytes: Uint8Array, end: number): string {
    if (end === 0) return "";
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, end).toString();
    const hasMark = this.#isAtStart && text.startsWith(BYTE_ORDER_MARK);
    this.#isAtStart = false;
    return hasMark ? text.slice(1) : text;
  }
}

/** The number of bytes at the end that begin a character and do not complete it. RFC 3629, section 3. */
function incompleteBytes(bytes: Uint8Array): number {
  for (let count = 1; count <= 3 && count <= bytes.length; count++) {
    const byte = bytes[bytes.length - count]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return count < characterBytes(byte) ? count : 0;
  }
  return 0;
}

function characterBytes(firstByte: number): number {
  return firstByte >= 0xf0 ? 4 : firstByte >= 0xe0 ? 3 : 2;
}
