import { concatBytes } from "../platform/lib/bytes/concat_bytes.ts";
import type { Vector } from "../vendors/upstreams/contract/vector_list.ts";

/** The text around each vector of a response. */
export interface VectorFrame {
  readonly opening: string;
  /** The text before a vector, by its number from 0; a comma is added. */
  readonly before: (nth: number) => string;
  readonly after: string;
  readonly closing: string;
}

const ENCODER = new TextEncoder();
const QUOTE = ENCODER.encode('"');

/** Returns the body of a response with vectors, which are not parsed. */
export function framedVectors(vectors: readonly Vector[], frame: VectorFrame): Uint8Array<ArrayBuffer> {
  const after = ENCODER.encode(frame.after);
  return concatBytes([
    ENCODER.encode(frame.opening),
    ...vectors.flatMap((vector, nth) => [
      ENCODER.encode(`${nth === 0 ? "" : ","}${frame.before(nth)}`),
      ...valueOf(vector),
      after,
    ]),
    ENCODER.encode(frame.closing),
  ]);
}

function valueOf({ encoding, bytes }: Vector): readonly Uint8Array<ArrayBuffer>[] {
  return encoding === "base64" ? [QUOTE, bytes, QUOTE] : [bytes];
}
