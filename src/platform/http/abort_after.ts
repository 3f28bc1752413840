import type { Clock } from "../lib/basics/clock.ts";
import { outputStream } from "../lib/streams/output_stream.ts";

/** Ends a response on purpose by breaking the connection. Error handlers of the server may ignore it. */
export class AbortedResponse extends Error {
  override readonly name = "AbruptEnd";
}

const FLUSH_MS = 50;

/**
 * Returns the same response, after which the connection breaks. The platform keeps a connection open forever if its
 * request body never ends, even with `Connection: close`. Only a failing response closes it, if no read of the body is
 * pending. The whole response is therefore sent in chunks without the final chunk.
 */
export function abortAfter(response: Response, clock: Clock): Response {
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  headers.set("connection", "close");
  const body = outputStream<Uint8Array>({
    async start(output) {
      output.enqueue(await response.bytes());
      clock.after(FLUSH_MS, () => output.error(new AbortedResponse("The connection was closed")));
    },
  });
  return new Response(body, { status: response.status, headers });
}
