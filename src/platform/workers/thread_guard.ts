import { parentPort } from "node:worker_threads";
import { getHeapStatistics } from "node:v8";
import { stackOf, watchUnhandled } from "../lib/process/unhandled.ts";
import type { GuardMessage } from "./guard_message.ts";

/** Options of {@linkcode guardThread}. */
export interface ThreadGuardOptions {
  /** Whether an error that nothing has handled must end the thread. Default: none must. */
  readonly isFatal?: (error: unknown) => boolean;
  /** Called for a fatal error. Default: the thread ends with it. */
  readonly onFatal?: (error: unknown) => void;
  /** Called when the heap was used up, half a second before the thread ends. Default: nothing is called. */
  readonly onOutOfMemory?: () => void;
}

/** Time between two looks at the heap. */
const LOOK_EVERY_MS = 1_000;
/** The time in which a thread without memory can end its streams. */
const LAST_WORDS_MS = 500;

/**
 * Reports errors of this thread that nothing has handled, and a heap that was used up. Every thread calls it first.
 *
 * At the limit of the heap the platform interrupts the code that runs, without an exception, and raises the limit. Only
 * some interrupted code ends the thread. After a message handler was interrupted, the thread lives on, but receives no
 * further message: nobody would learn of it. The raised limit shows it. Source:
 * docs/decisions/0157-memory-of-threads.md.
 */
export function guardThread(
  { isFatal = () => false, onFatal = rethrow, onOutOfMemory }: ThreadGuardOptions = {},
): void {
  const report = (message: GuardMessage) => parentPort?.postMessage(message);
  watchUnhandled({ isFatal, onFatal, onUnhandled: (error) => report({ guard: "unhandled", stack: stackOf(error) }) });
  const limitBytes = getHeapStatistics().heap_size_limit;
  const timer = setInterval(() => {
    if (getHeapStatistics().heap_size_limit <= limitBytes) return;
    clearInterval(timer);
    const end = () => report({ guard: "out-of-memory", stack: "" });
    if (onOutOfMemory === undefined) return end();
    setTimeout(end, LAST_WORDS_MS); // first, as the rest can fail
    onOutOfMemory();
  }, LOOK_EVERY_MS);
  Deno.unrefTimer(timer);
}

/** Ends this thread: an error within a listener of `error` is not reported to it again. */
function rethrow(error: unknown): void {
  throw error;
}
