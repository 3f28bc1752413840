import { Buffer } from "node:buffer";

const BACKSLASH = 0x5c;

/** Names seen before by a hash of their bytes, because the same names come with every request. */
const KNOWN_NAMES: (string | undefined)[] = new Array(256).fill(undefined);
const MAX_KNOWN_NAME_CHARACTERS = 32;

/**
 * Decodes the name of a member of a JSON text.
 *
 * @param start The offset of the quote that opens the name.
 * @param end The offset of the quote that closes it.
 */
export function readName(bytes: Uint8Array, start: number, end: number): string {
  const length = end - start - 1;
  if (length > MAX_KNOWN_NAME_CHARACTERS) return readQuoted(bytes, start, end);
  let hash = length;
  for (let at = start + 1; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === BACKSLASH || byte > 0x7f) return readQuoted(bytes, start, end);
    hash = (hash * 31 + byte) & 0xff;
  }
  const known = KNOWN_NAMES[hash];
  if (known !== undefined && known.length === length && isSpelled(known, bytes, start + 1)) return known;
  return KNOWN_NAMES[hash] = readQuoted(bytes, start, end);
}

function isSpelled(name: string, bytes: Uint8Array, start: number): boolean {
  for (let index = 0; index < name.length; index++) if (name.charCodeAt(index) !== bytes[start + index]) return false;
  return true;
}

/**
 * Decodes a string with escapes or non-ASCII characters. A malformed string keeps its bytes; the parser rejects the
 * text.
 */
function readQuoted(bytes: Uint8Array, start: number, end: number): string {
  const quoted = bytes.subarray(start, end + 1);
  const text = Buffer.from(quoted.buffer, quoted.byteOffset, quoted.length).toString();
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(1, -1);
  }
}
