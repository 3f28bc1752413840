import { Buffer } from "node:buffer";

const SLICE_CHARACTERS = 262_144;
/** A multiple of three, so that every slice but the last encodes without padding. */
const SLICE_BYTES = 196_608;

/** Whether a text is base64 in the standard or URL alphabet (RFC 4648, 4 and 5), padded or not, and not empty. */
export function isBase64(text: string): boolean {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const length = text.length - padding;
  if (length === 0 || length % 4 === 1 || (padding > 0 && text.length % 4 !== 0)) return false;
  // Searches for an invalid character. Matching the whole text would need a stack as deep as the text is long.
  const stranger = text.search(/[^A-Za-z0-9+/_-]/);
  return stranger < 0 || stranger >= length;
}

/** Decodes at most `mostBytes` first bytes of a base64 text. */
export function firstBytesOf(text: string, mostBytes: number): Uint8Array<ArrayBuffer> {
  return Buffer.from(text.slice(0, Math.ceil(mostBytes / 3) * 4), "base64").subarray(0, mostBytes);
}

/** A base64 text as bytes to send, in chunks. */
export function* piecesOfText(text: string): Generator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < text.length; at += SLICE_CHARACTERS) yield asciiBytes(text.slice(at, at + SLICE_CHARACTERS));
}

/** Bytes as base64 to send, in chunks. */
export function* piecesOfBytes(bytes: Uint8Array<ArrayBuffer>): Generator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    yield asciiBytes(bytes.subarray(at, at + SLICE_BYTES).toBase64());
  }
}

/** The length of bytes in base64 with padding. */
export function base64Length(lengthBytes: number): number {
  return Math.ceil(lengthBytes / 3) * 4;
}

const ENCODER = new TextEncoder();

/** The fastest conversion for text with one byte per character. */
function asciiBytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  ENCODER.encodeInto(text, bytes);
  return bytes;
}
