/**
 * An error of the PostgreSQL client that tests expect. A statement of less than 1 KB is written in a later turn of the
 * event loop; if its connection is closed by then, the client throws there, where nothing can catch it, and the test
 * runner would end. A gateway counts the error and goes on, and `answeringPool` ends the statement. The frame is that of
 * the client, here or in the report of a thread. Source: porsager/postgres, issues 1154 and 1208.
 */
export function ignoreWritesAfterClose(): void {
  globalThis.addEventListener("error", (event) => {
    if (event.error instanceof Error && /\bnextWrite\b/.test(event.error.stack ?? "")) event.preventDefault();
  });
}
