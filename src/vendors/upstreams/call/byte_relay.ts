import { outputStream } from "../../../platform/lib/streams/output_stream.ts";
import type { OutboundResponse } from "./outbound_call.ts";

/**
 * The body of a response as a stream, from a first chunk that is already read. A reader who leaves ends the exchange
 * with the vendor.
 */
export function relayedBody(
  response: Pick<OutboundResponse, "read" | "cancel">,
  first: Uint8Array<ArrayBuffer>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return outputStream<Uint8Array<ArrayBuffer>>({
    start: (output) => output.enqueue(first),
    async pull(output) {
      const chunk = await response.read();
      if (chunk === null) output.close();
      else output.enqueue(chunk);
    },
    cancel: () => response.cancel(),
  }, { highWaterMark: 1 });
}
