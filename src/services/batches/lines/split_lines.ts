import { Buffer } from "node:buffer";

/** A longer line of a vendor's results is left out: no reply of a model is as long. */
const MAX_RESULT_BYTES = 64 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** Cuts chunks into lines without their ends. Empty lines, and those that are longer than the limit, are left out. */
export async function* boundedLinesOf(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number = MAX_RESULT_BYTES,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  const take = (piece: Uint8Array) => {
    length += piece.length;
    if (length > maxBytes) pieces = [];
    else pieces.push(piece.slice());
  };
  const end = () => {
    const line = length > maxBytes ? new Uint8Array() : new Uint8Array(Buffer.concat(pieces, length));
    pieces = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, start)) {
      take(chunk.subarray(start, at));
      start = at + 1;
      const line = end();
      if (line.length > 0) yield line;
    }
    if (start < chunk.length) take(chunk.subarray(start));
  }
  const last = end();
  if (last.length > 0) yield last;
}
