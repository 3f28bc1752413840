import { concatBytes } from "../../../platform/lib/bytes/concat_bytes.ts";
import { holdWork } from "../../../platform/lib/basics/held.ts";
import { judgeMedium, MEDIUM_HEAD_BYTES, type MediumVerdict } from "../../../platform/lib/media/medium.ts";

/** A vendor's file that is no video or picture, such as the page of an expired address. */
export class NoMediumError extends Error {
  override readonly name = "NoMediumError";

  /** @param problem As in {@linkcode MediumVerdict}. */
  constructor(problem: string) {
    super(`the provider returned something else than the result: ${problem}`);
  }
}

/** The verdict on a file, and the file with the bytes that were read for it. */
export interface JudgedBody extends MediumVerdict {
  /** The bytes that were read. */
  readonly head: Uint8Array<ArrayBuffer>;
  /** The whole file. Its source is ended if there is a problem. */
  readonly body: AsyncGenerator<Uint8Array, void>;
}

/** What a judgement needs. */
export interface JudgedOptions {
  /** The vendor's media type; null if there is none. */
  readonly declaredType: string | null;
  /** The bytes to wait for, unless the file is shorter. Default: enough for every kind. */
  readonly minBytes?: number;
  /** False for a part within a file, which nothing can be seen from. Default: true. */
  readonly isStart?: boolean;
}

/**
 * Judges a vendor's result or extra by its first bytes.
 *
 * @throws {unknown} What the source throws.
 */
export async function judged(source: AsyncIterable<Uint8Array>, options: JudgedOptions): Promise<JudgedBody> {
  const { declaredType, minBytes = MEDIUM_HEAD_BYTES, isStart = true } = options;
  const iterator = source[Symbol.asyncIterator]();
  const head = await firstBytes(iterator, minBytes);
  if (!isStart) return { problem: null, isUnknown: false, head, body: whole(head, iterator) };
  const verdict = await judgeMedium(head.subarray(0, MEDIUM_HEAD_BYTES), { kind: "video", declaredType });
  const ended = verdict.problem === null ? undefined : iterator.return?.();
  if (ended !== undefined) holdWork(ended);
  return { ...verdict, head, body: whole(head, iterator) };
}

async function firstBytes(iterator: AsyncIterator<Uint8Array>, minBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  // Ends with the source, or with enough bytes of it.
  while (bytes < minBytes) {
    const { done, value } = await iterator.next();
    if (done) break;
    pieces.push(value);
    bytes += value.length;
  }
  return concatBytes(pieces);
}

async function* whole(head: Uint8Array, iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    if (head.length > 0) yield head;
    // Ends with the source.
    for (;;) {
      const { done, value } = await iterator.next();
      if (done) return;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}
