import { outputStream } from "../platform/lib/streams/output_stream.ts";
import type { ConsoleSessions } from "./sessions.ts";

/**
 * A stream of events that ends with the session of a token: at the sign-out, and at the first event after the session
 * has ended otherwise. Each event is a use of the session, as each read of a page that polls.
 */
export function endWithSession(
  { body, status, headers }: Response,
  sessions: Pick<ConsoleSessions, "find" | "onEnd">,
  token: string,
): Response {
  if (body === null) return new Response(null, { status, headers });
  const source = body.getReader();
  let cancelEnd = () => {};
  const stream = outputStream<Uint8Array>({
    start(output) {
      cancelEnd = sessions.onEnd(token, () => {
        source.cancel().catch(() => {}); // its end is that of the session
        output.close();
      });
    },
    async pull(output) {
      const { done, value } = await source.read();
      // A read that was under way at the end of the session resolves without a value.
      if (await sessions.find(token) === null) return;
      if (!done) return output.enqueue(value);
      cancelEnd();
      output.close();
    },
    async cancel(reason) {
      cancelEnd();
      await source.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(stream, { status, headers });
}
