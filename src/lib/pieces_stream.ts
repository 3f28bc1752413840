import { outputStream } from "./output_stream.ts";
import { TurnPace } from "./turn_pace.ts";

/** The platform copies what it sends, so more is not sent in one step. */
const MAX_SENT_BYTES = 65_536;

/**
 * Creates a stream of the bytes of buffers, with turns of the event loop in between. A response with a body of 30 MB as
 * a buffer takes the platform 40 ms in one step.
 *
 * @param onSend Called with each piece when it is sent.
 */
export function piecesStream(
  buffers: readonly ArrayBuffer[],
  onSend: (piece: Uint8Array<ArrayBuffer>) => void = () => {},
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const pieces = piecesOf(buffers);
  const pace = new TurnPace();
  return outputStream<Uint8Array<ArrayBuffer>>({
    async pull(output) {
      const turn = pace.note();
      if (turn !== null) await turn;
      const { done, value } = pieces.next();
      if (done) return output.close();
      onSend(value);
      output.enqueue(value);
    },
  }, { highWaterMark: 0 });
}

function* piecesOf(buffers: readonly ArrayBuffer[]): Generator<Uint8Array<ArrayBuffer>, undefined> {
  for (const buffer of buffers) {
    for (let start = 0; start < buffer.byteLength; start += MAX_SENT_BYTES) {
      yield new Uint8Array(buffer, start, Math.min(MAX_SENT_BYTES, buffer.byteLength - start));
    }
  }
}
