/** Replaces the bytes from `start` to `end` with a text. */
export interface Cut {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const ENCODER = new TextEncoder();

/** Applies the cuts, which must be in offset order and must not overlap. */
export function withCuts(bytes: Uint8Array, cuts: readonly Cut[]): Uint8Array<ArrayBuffer> {
  const texts: Uint8Array[] = [];
  let length = bytes.length;
  for (const { start, end, text } of cuts) {
    const encoded = ENCODER.encode(text);
    texts.push(encoded);
    length += encoded.length - (end - start);
  }
  const result = new Uint8Array(length);
  let from = 0;
  let to = 0;
  for (let index = 0; index < cuts.length; index++) {
    const { start = 0, end = 0 } = cuts[index] ?? {};
    result.set(bytes.subarray(from, start), to);
    to += start - from;
    const text = texts[index];
    if (text !== undefined) {
      result.set(text, to);
      to += text.length;
    }
    from = end;
  }
  result.set(bytes.subarray(from), to);
  return result;
}
