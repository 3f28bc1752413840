import { hasHigh, index, isInvalid, memory, start } from "./json_index.wasm";

/**
 * Finds the structural characters of a JSON text: brackets, braces, colons and commas outside strings, the quotes of
 * strings, and the second characters of the escapes `\u` and `\/`. The work is done by `json_index.wasm`, which
 * `deno task wasm` builds from `json_index.wat`: vector instructions take a quarter of the time of a loop over bytes.
 */

/** The size of the pieces in which a text is indexed. */
export const INDEX_PIECE_BYTES = 65_536;

const BLOCK_BYTES = 64;
const SPACE = 0x20;
const input = new Uint8Array(memory.buffer, 0, INDEX_PIECE_BYTES);

/** The offsets that {@linkcode indexPiece} found, from the start of the text. Valid until the next piece. */
export const indexedOffsets: Int32Array = new Int32Array(memory.buffer, INDEX_PIECE_BYTES, INDEX_PIECE_BYTES);

/** Starts a new text. Only one text can be indexed at a time. */
export function startIndex(): void {
  start();
}

/**
 * Indexes the piece of a text from an offset. The pieces of a text must be indexed in order.
 *
 * @returns The number of offsets in {@linkcode indexedOffsets}.
 */
export function indexPiece(bytes: Uint8Array, from: number): number {
  const length = Math.min(INDEX_PIECE_BYTES, bytes.length - from);
  input.set(length === bytes.length ? bytes : bytes.subarray(from, from + length));
  const end = Math.ceil(length / BLOCK_BYTES) * BLOCK_BYTES;
  for (let at = length; at < end; at++) input[at] = SPACE;
  return index(length, from);
}

/** Whether the pieces so far contain only ASCII characters. */
export function isIndexedAscii(): boolean {
  return hasHigh() === 0;
}

/** Whether a string in the pieces so far contains a control character or an escape that JSON does not define. */
export function hasInvalidString(): boolean {
  return isInvalid() !== 0;
}
