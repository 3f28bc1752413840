/** Replaces the bytes from `start` to `end` with a text. */
export interface Cut {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const ENCODER = new TextEncoder();
/** An ASCII text up to this length is written faster byte by byte than by a call of the encoder. */
const MAX_LOOP_CHARACTERS = 128;

/** Applies the cuts, which must be in offset order and must not overlap. */
export function withCuts(bytes: Uint8Array, cuts: readonly Cut[]): Uint8Array<ArrayBuffer> {
  const texts = cuts.map(({ text }) => isShortAscii(text) ? text : ENCODER.encode(text));
  let length = bytes.length;
  for (let index = 0; index < cuts.length; index++) {
    length += texts[index]!.length - (cuts[index]!.end - cuts[index]!.start);
  }
  const result = new Uint8Array(length);
  let from = 0;
  let to = 0;
  for (let index = 0; index < cuts.length; index++) {
    const { start, end } = cuts[index]!;
    const text = texts[index]!;
    result.set(bytes.subarray(from, start), to);
    to += start - from;
    if (typeof text !== "string") result.set(text, to);
    else for (let at = 0; at < text.length; at++) result[to + at] = text.charCodeAt(at);
    to += text.length;
    from = end;
  }
  result.set(bytes.subarray(from), to);
  return result;
}

function isShortAscii(text: string): boolean {
  if (text.length > MAX_LOOP_CHARACTERS) return false;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) >= 0x80) return false;
  return true;
}
