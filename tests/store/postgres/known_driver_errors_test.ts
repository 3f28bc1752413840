import { setImmediate } from "node:timers";
import { ignoreWritesAfterClose } from "../../support/known_driver_errors.ts";

Deno.test("a late write of the PostgreSQL client ends no test run", async () => {
  ignoreWritesAfterClose();
  const ended = Promise.withResolvers<void>();
  // As in the client: the connection is closed before its turn comes.
  const socket = null as unknown as { write(): void };
  setImmediate(function nextWrite() {
    setImmediate(ended.resolve);
    socket.write();
  });
  await ended.promise;
});
