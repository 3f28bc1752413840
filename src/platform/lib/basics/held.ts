/**
 * What becomes of a promise that its starter does not await. Each has one of three holders, by what a failure breaks:
 * the state of the gateway, one request, or neither. `tests/architecture/promises_test.ts` finds promises without one.
 * Source: docs/decisions/0156-held-promises.md.
 */

/** Work on money, jobs, leases or the journal has failed in a way that it does not handle. It ends the process. */
export class StateFailure extends Error {
  /** The name in stack traces. */
  override readonly name = "StateFailure";

  /**
   * Creates the error.
   *
   * @param what The work, such as `charges`.
   * @param cause What it threw.
   */
  constructor(what: string, cause: unknown) {
    super(`Cannot go on: the work on ${what} failed`, { cause });
    if (cause instanceof Error && cause.stack !== undefined) {
      this.stack = `${this.name}: ${this.message}\n${framesOf(cause)}`;
    }
  }
}

/**
 * Holds work that carries state: commits, charges, the journal, leases and jobs. A failure becomes an uncaught
 * {@linkcode StateFailure}. It ends the process, or the thread, and the next start recovers from the journal and the
 * store.
 *
 * @param work It handles every failure that is expected, such as a store that does not answer.
 * @param what The work, for the log.
 */
export function holdState(work: PromiseLike<unknown>, what: string): void {
  work.then(undefined, (error) => reportError(new StateFailure(what, error)));
}

/**
 * Holds work that a request or a stream has started. A failure ends that request.
 *
 * @param end Ends the request with the error.
 */
export function holdRequest(work: PromiseLike<unknown>, end: (error: unknown) => void): void {
  work.then(undefined, end).then(undefined, reportError);
}

/**
 * Holds any other work in the background, which no request waits for and no state depends on. A failure is logged and
 * counted like every error that nothing handles, and the process goes on.
 */
export function holdWork(work: PromiseLike<unknown>): void {
  work.then(undefined, reportError);
}

function framesOf({ stack = "" }: Error): string {
  return stack.slice(Math.max(0, stack.search(/^[ \t]+at /m)));
}
