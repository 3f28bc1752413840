import { nextTurn } from "../platform/lib/streams/loop_turns.ts";
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

/** A few milliseconds of copying. */
const SLICE_BYTES = 8_000_000;

/**
 * Returns the body of a response with vectors, which are not parsed. Thousands of them have up to 200 MB, so it yields
 * to other work.
 */
export async function framedVectors(
  vectors: readonly Vector[],
  frame: VectorFrame,
): Promise<Uint8Array<ArrayBuffer>> {
  const after = ENCODER.encode(frame.after);
  const parts = [
    ENCODER.encode(frame.opening),
    ...vectors.flatMap((vector, nth) => [
      ENCODER.encode(`${nth === 0 ? "" : ","}${frame.before(nth)}`),
      ...valueOf(vector),
      after,
    ]),
    ENCODER.encode(frame.closing),
  ];
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  let pauseAt = SLICE_BYTES;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
    if (at < pauseAt) continue;
    await nextTurn();
    pauseAt = at + SLICE_BYTES;
  }
  return whole;
}

function valueOf({ encoding, bytes }: Vector): readonly Uint8Array<ArrayBuffer>[] {
  return encoding === "base64" ? [QUOTE, bytes, QUOTE] : [bytes];
}
