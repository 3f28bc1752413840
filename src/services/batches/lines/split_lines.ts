import { concatBytes } from "../../../platform/lib/bytes/concat_bytes.ts";

const LINE_FEED = 0x0a;

/** Most lines are within one chunk: their copy is the line. */
function joined(pieces: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const [first, ...others] = pieces;
  return first !== undefined && others.length === 0 ? first : concatBytes(pieces);
}

/**
 * Cuts chunks into lines without their line feeds, each a copy. In the place of a line that is longer than the limit
 * there is null, as soon as it is known to be. What comes after the last line feed is a line unless it is empty.
 *
 * @param read Gets the number of bytes up to the end of the last line that has ended.
 */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  read: { bytes: number } = { bytes: 0 },
): AsyncGenerator<Uint8Array<ArrayBuffer> | null> {
  let pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  /** The bytes of all chunks before the present one. */
  let before = read.bytes;
  /** Whether the line has just become too long. */
  const take = (piece: Uint8Array): boolean => {
    const wasShort = length <= maxBytes;
    length += piece.length;
    if (length <= maxBytes) pieces.push(new Uint8Array(piece));
    else pieces = [];
    return wasShort && length > maxBytes;
  };
  /** Null for a line that was too long. */
  const end = () => {
    const line = length > maxBytes ? null : joined(pieces);
    pieces = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, start)) {
      if (take(chunk.subarray(start, at))) yield null;
      start = at + 1;
      read.bytes = before + start;
      const line = end();
      if (line !== null) yield line;
    }
    if (start < chunk.length && take(chunk.subarray(start))) yield null;
    before += chunk.length;
  }
  read.bytes = before;
  if (length === 0) return;
  const last = end();
  if (last !== null) yield last;
}
