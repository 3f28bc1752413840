import { AsyncLocalStorage } from "node:async_hooks";

/** Null until the first request with a trace, so that nothing is looked up while tracing is off. */
let scope: AsyncLocalStorage<string> | null = null;

/** Runs a function. Requests to vendors that it sends, also later, get these header lines. */
export function withTraceLines<T>(lines: string, run: () => T): T {
  scope ??= new AsyncLocalStorage<string>();
  return scope.run(lines, run);
}

/** The header lines of the trace that the running code belongs to, each ended by CR LF; empty for none. */
export function traceLines(): string {
  return scope === null ? "" : scope.getStore() ?? "";
}
