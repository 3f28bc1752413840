import type { OutboundResponse } from "./outbound_call.ts";

/**
 * The body of a response as a stream, from a first chunk that is already read. A reader who leaves ends the exchange
 * with the vendor.
 */
export function relayedBody(
  response: Pick<OutboundResponse, "read" | "cancel">,
  first: Uint8Array<ArrayBuffer>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(first),
    async pull(controller) {
      const chunk = await response.read();
      if (chunk === null) controller.close();
      else controller.enqueue(chunk);
    },
    cancel: () => response.cancel(),
  }, { highWaterMark: 1 });
}
