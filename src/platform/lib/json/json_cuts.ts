import { ByteParts } from "../bytes/byte_parts.ts";

/** Replaces the bytes from `start` to `end` with a text. */
export interface Cut {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const ENCODER = new TextEncoder();
/** An ASCII text up to this length is written faster byte by byte than by a call of the encoder. */
const MAX_LOOP_CHARACTERS = 128;

/** Applies the cuts, which must be in offset order and must not overlap. Unchanged ranges are views of `bytes`. */
export function withCuts(bytes: Uint8Array<ArrayBuffer>, cuts: readonly Cut[]): ByteParts {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let from = 0;
  for (const { start, end, text } of cuts) {
    if (start > from) parts.push(bytes.subarray(from, start));
    if (text !== "") parts.push(encoded(text));
    from = end;
  }
  if (cuts.length === 0) return new ByteParts([bytes]);
  if (from < bytes.length) parts.push(bytes.subarray(from));
  return new ByteParts(parts);
}

function encoded(text: string): Uint8Array<ArrayBuffer> {
  if (!isShortAscii(text)) return ENCODER.encode(text);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

function isShortAscii(text: string): boolean {
  if (text.length > MAX_LOOP_CHARACTERS) return false;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) >= 0x80) return false;
  return true;
}
