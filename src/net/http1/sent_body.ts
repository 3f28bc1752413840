import { ConnectionError, type ExchangeProgress } from "./connection_error.ts";
import type { StreamedBody } from "./wire_request.ts";

/** A larger body is written in chunks of this size while the response is read. */
export const PIECE_BYTES = 262_144;

/** Returns a body in chunks of {@linkcode PIECE_BYTES}. */
export function inPieces(body: Uint8Array): StreamedBody {
  return {
    lengthBytes: body.length,
    async *open() {
      for (let at = 0; at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
    },
  };
}

/**
 * Returns the bytes of a body, checked against the declared length. Any other length would corrupt the next request.
 *
 * @param progress How much of the request was sent.
 * @throws {ConnectionError} `body` if the body has another length, or cannot be read.
 */
export async function* exactly(body: StreamedBody, progress: () => ExchangeProgress): AsyncGenerator<Uint8Array> {
  let left = body.lengthBytes;
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
