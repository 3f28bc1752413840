/** The size of each part of a large upload, except the last. The protocol's minimum is 5 MiB. */
export const PART_BYTES = 8_388_608;

/** Returns a source in parts of {@linkcode PART_BYTES}, each in a new buffer. The last one may be shorter. */
export async function* partsOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let part = new Uint8Array(0);
  let length = 0;
  for await (const piece of source) {
    for (let at = 0; at < piece.length;) {
      if (length === part.length) part = grown(part, length);
      const taken = piece.subarray(at, at + part.length - length);
      part.set(taken, length);
      length += taken.length;
      at += taken.length;
      if (length < PART_BYTES) continue;
      yield part;
      part = new Uint8Array(0);
      length = 0;
    }
  }
  if (length > 0) yield part.subarray(0, length);
}

/** Doubles a buffer, so that small files do not cost a whole part. */
function grown(part: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(Math.max(part.length * 2, 65_536), PART_BYTES));
  larger.set(part.subarray(0, length));
  return larger;
}
