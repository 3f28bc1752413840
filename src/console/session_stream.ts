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
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      cancelEnd = sessions.onEnd(token, () => {
        source.cancel().catch(() => {}); // a failure does not matter: nobody reads it any more
        controller.close();
      });
    },
    async pull(controller) {
      const { done, value } = await source.read();
      // A read that was under way at the end of the session resolves without a value.
      if (sessions.find(token) === null) return;
      if (!done) return controller.enqueue(value);
      cancelEnd();
      controller.close();
    },
    async cancel(reason) {
      cancelEnd();
      await source.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(stream, { status, headers });
}
