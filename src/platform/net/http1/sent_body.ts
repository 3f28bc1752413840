import type { ByteParts } from "../../lib/bytes/byte_parts.ts";
import { concatBytes } from "../../lib/bytes/concat_bytes.ts";
import { ConnectionError, type ExchangeProgress } from "./connection_error.ts";
import type { StreamedBody } from "./wire_request.ts";

/** A larger body is written in chunks of this size while the response is read. */
export const PIECE_BYTES = 262_144;
/** A part up to this size is copied faster than written by itself. */
const MAX_SHORT_BYTES = 16_384;

/** Returns the parts of a body in memory. */
export function partsOf(body: Uint8Array | ByteParts | null): readonly Uint8Array[] {
  if (body === null) return [];
  return body instanceof Uint8Array ? [body] : body.parts;
}

/** The number of first parts that have at most `maxBytes` together. */
export function partsWithin(parts: readonly Uint8Array[], maxBytes: number): number {
  let bytes = 0;
  const index = parts.findIndex(({ length }) => (bytes += length) > maxBytes);
  return index === -1 ? parts.length : index;
}

/** Joins neighbouring short parts, each of which would cost a write. */
export function withoutShortRuns(parts: readonly Uint8Array[]): readonly Uint8Array[] {
  const isShort = ({ length }: Uint8Array) => length <= MAX_SHORT_BYTES;
  if (!parts.some((part, index) => isShort(part) && index > 0 && isShort(parts[index - 1] ?? part))) return parts;
  const joined: Uint8Array[] = [];
  let run: Uint8Array[] = [];
  for (const part of parts) {
    if (isShort(part)) {
      run.push(part);
      continue;
    }
    if (run.length > 0) joined.push(concatBytes(run));
    run = [];
    joined.push(part);
  }
  return run.length > 0 ? [...joined, concatBytes(run)] : joined;
}

/** Returns parts of a body in chunks of at most {@linkcode PIECE_BYTES}. */
export function inPieces(parts: readonly Uint8Array[]): StreamedBody {
  return {
    lengthBytes: parts.reduce((sum, { length }) => sum + length, 0),
    async *open() {
      for (const part of parts) {
        for (let at = 0; at < part.length; at += PIECE_BYTES) yield part.subarray(at, at + PIECE_BYTES);
      }
    },
  };
}

/** The header line about the length of a body. */
export function framingLineOf(lengthBytes: number | null): string {
  return lengthBytes === null ? "transfer-encoding: chunked\r\n" : `content-length: ${lengthBytes}\r\n`;
}

/**
 * Returns a body as it is written: in chunks (RFC 9112, 7.1), or its bytes if their number was declared.
 *
 * @param progress How much of the request was sent.
 * @throws {ConnectionError} `body` if the body has another length, or cannot be read.
 */
export async function* framed(body: StreamedBody, progress: () => ExchangeProgress): AsyncGenerator<Uint8Array> {
  if (body.lengthBytes !== null) return yield* exactly(body, body.lengthBytes, progress);
  for await (const bytes of readable(body, progress)) {
    if (bytes.length > 0) yield concatBytes([ENCODER.encode(`${bytes.length.toString(16)}\r\n`), bytes, LINE_END]);
  }
  yield ENCODER.encode("0\r\n\r\n");
}

const ENCODER = new TextEncoder();
const LINE_END = ENCODER.encode("\r\n");

async function* readable(body: StreamedBody, progress: () => ExchangeProgress): AsyncGenerator<Uint8Array> {
  try {
    yield* body.open();
  } catch (error) {
    throw new ConnectionError("Cannot read the request's body", "body", progress(), error);
  }
}

/**
 * Returns the bytes of a body, checked against the declared length. Any other length would corrupt the next request.
 *
 * @param progress How much of the request was sent.
 * @throws {ConnectionError} `body` if the body has another length, or cannot be read.
 */
async function* exactly(
  body: Pick<StreamedBody, "open">,
  lengthBytes: number,
  progress: () => ExchangeProgress,
): AsyncGenerator<Uint8Array> {
  let left = lengthBytes;
  try {
    for await (const bytes of body.open()) {
      left -= bytes.length;
      if (left < 0) throw new RangeError("it is longer than declared");
      if (bytes.length > 0) yield bytes;
    }
    if (left > 0) throw new RangeError("it is shorter than declared");
  } catch (error) {
    throw new ConnectionError("Cannot read the request's body", "body", progress(), error);
  }
}
