import type { Clock } from "../lib/clock.ts";

/** The end of an answer that was broken off on purpose; whoever watches the server's errors may overlook it. */
export class AbruptEnd extends Error {
  override readonly name = "AbruptEnd";
}

const FLUSH_MS = 50;

/**
 * The same answer, after which the connection breaks. The platform keeps a connection whose request body never ends
 * open for ever, also when the answer says `Connection: close`; only an answer that fails makes it let go, if no read
 * of the body is pending. So the answer is sent whole, in chunks, and the mark of its end never comes.
 */
export function abruptAnswer(response: Response, clock: Clock): Response {
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  headers.set("connection", "close");
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(await response.bytes());
      clock.after(FLUSH_MS, () => controller.error(new AbruptEnd("The connection is given up")));
    },
  });
  return new Response(body, { status: response.status, headers });
}
