import type { Key } from "./store.ts";

/**
 * Encodes a key as text of one character per byte. The comparison of two encoded keys is the order of the keys: part by
 * part, numbers before text, text by code point. The encoding of a key's first parts is a prefix of the key's own.
 *
 * @throws {RangeError} If a number is not finite, or a text has half a surrogate pair, which engines would replace.
 */
export function encodeKey(key: Key): string {
  let encoded = "";
  for (const part of key) encoded += typeof part === "number" ? encodeNumber(part) : encodeText(part);
  return encoded;
}

/** The inverse of {@linkcode encodeKey}. */
export function decodeKey(encoded: string): (string | number)[] {
  const key: (string | number)[] = [];
  for (let at = 0; at < encoded.length;) {
    if (encoded.charCodeAt(at) === NUMBER_TAG) {
      key.push(numberOfBytes(bytesOfCharacters(encoded.slice(at + 1, at + 9))));
      at += 9;
    } else {
      const end = endOfText(encoded, at + 1);
      key.push(decodeText(encoded.slice(at + 1, end)));
      at = end + 1;
    }
  }
  return key;
}

const NUMBER_TAG = 1;

/** The place of the zero that ends a text: one that 0xff does not follow. */
function endOfText(encoded: string, start: number): number {
  let end = encoded.indexOf("\x00", start);
  while (encoded.charCodeAt(end + 1) === 0xff) end = encoded.indexOf("\x00", end + 1);
  return end;
}

function decodeText(encoded: string): string {
  if (PLAIN_ASCII.test(encoded)) return encoded;
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(
    bytesOfCharacters(encoded.replaceAll("\x00\xff", "\x00")),
  );
}

function bytesOfCharacters(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** {@linkcode encodeKey}, or null for a key that was never written because it is malformed or too long. */
export function encodeStorableKey(key: Key, maxKeyBytes: number): string | null {
  try {
    const encoded = encodeKey(key);
    return encoded.length > maxKeyBytes ? null : encoded;
  } catch {
    return null;
  }
}

/** Whether an encoded key is below an encoded prefix and not the prefix itself. */
export function isBelow(encoded: string, prefix: string): boolean {
  // 0xff after the prefix means that the zero at its end belongs to a longer text and does not end its last part.
  return encoded.length > prefix.length && encoded.startsWith(prefix) && encoded[prefix.length] !== "\xff";
}

const SCRATCH = new Uint8Array(8);
const SCRATCH_VIEW = new DataView(SCRATCH.buffer);

/** A number as eight bytes that sort in the order of numbers. */
export function bytesOfNumber(number: number): Uint8Array<ArrayBuffer> {
  writeScratch(number);
  return SCRATCH.slice();
}

/** The inverse of {@linkcode bytesOfNumber}. */
export function numberOfBytes(bytes: Uint8Array): number {
  SCRATCH.set(bytes);
  const high = SCRATCH_VIEW.getUint32(0);
  flipScratch(high, high >= SIGN_BIT);
  return SCRATCH_VIEW.getFloat64(0);
}

function encodeNumber(number: number): string {
  if (!Number.isFinite(number)) throw new RangeError(`Cannot use ${number} in a key: expected a finite number`);
  writeScratch(number);
  const high = SCRATCH_VIEW.getUint32(0);
  const low = SCRATCH_VIEW.getUint32(4);
  return String.fromCharCode(
    1,
    high >>> 24,
    high >>> 16 & 0xff,
    high >>> 8 & 0xff,
    high & 0xff,
    low >>> 24,
    low >>> 16 & 0xff,
    low >>> 8 & 0xff,
    low & 0xff,
  );
}

const SIGN_BIT = 0x8000_0000;

// Big-endian IEEE 754 sorts as bytes once the sign bit of positive numbers and every bit of negative ones is flipped.
function writeScratch(number: number): void {
  SCRATCH_VIEW.setFloat64(0, number + 0); // -0 becomes 0
  const high = SCRATCH_VIEW.getUint32(0);
  flipScratch(high, high < SIGN_BIT);
}

function flipScratch(high: number, isPositive: boolean): void {
  SCRATCH_VIEW.setUint32(0, isPositive ? high ^ SIGN_BIT : ~high);
  if (!isPositive) SCRATCH_VIEW.setUint32(4, ~SCRATCH_VIEW.getUint32(4));
}

const PLAIN_ASCII = /^[ -~]*$/;

// The final 0x00 sorts a text before its continuations. A 0x00 inside the text is followed by 0xff to tell the two
// apart.
function encodeText(text: string): string {
  if (PLAIN_ASCII.test(text)) return `\x02${text}\x00`;
  if (!text.isWellFormed()) throw new RangeError("Cannot use a text in a key: it has half a surrogate pair");
  let encoded = "\x02";
  for (const byte of new TextEncoder().encode(text)) encoded += byte === 0 ? "\x00\xff" : String.fromCharCode(byte);
  return encoded + "\x00";
}
