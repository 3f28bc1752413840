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
  const encoded = cuts.map(({ start, end, text }) => ({ start, end, text: Buffer.from(text) }));
  const added = encoded.reduce((sum, { start, end, text }) => sum + text.length - (end - start), 0);
  const result = new Uint8Array(bytes.length + added);
  let from = 0;
  let to = 0;
  for (const { start, end, text } of encoded) {
    to += source.copy(result, to, from, start);
    to += text.copy(result, to);
    from = end;
  }
  source.copy(result, to, from);
  return result;
}
