import { Buffer } from "node:buffer";

/** Replaces the bytes from `start` to `end` with a text. */
export interface Cut {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Applies the cuts, which must be in offset order and must not overlap. */
export function withCuts(bytes: Uint8Array, cuts: readonly Cut[]): Uint8Array<ArrayBuffer> {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const texts = cuts.map(({ text }) => Buffer.from(text));
  const added = texts.reduce((sum, text, index) => sum + text.length - (cuts[index].end - cuts[index].start), 0);
  const result = new Uint8Array(bytes.length + added);
  let from = 0;
  let to = 0;
  for (let index = 0; index < cuts.length; index++) {
    to += source.copy(result, to, from, cuts[index].start);
    to += texts[index].copy(result, to);
    from = cuts[index].end;
  }
  source.copy(result, to, from);
  return result;
}
