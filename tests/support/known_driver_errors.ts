/**
 * Ignores an error of the PostgreSQL client. It writes a statement of less than 1 KB in a later turn of the event loop;
 * if the connection is closed by then, it throws there, where nothing can catch it, and the test runner would end. A
 * gateway counts the error and goes on, and `answeringPool` ends the statement. The frame is one of the client, also in
 * the report of a thread. Source: porsager/postgres, issues 1154 and 1208.
 */
export function ignoreWritesAfterClose(): void {
  globalThis.addEventListener("error", (event) => {
    if (event.error instanceof Error && /\bnextWrite\b/.test(event.error.stack ?? "")) event.preventDefault();
  });
}
