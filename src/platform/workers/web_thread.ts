import { type Clock, systemClock } from "../lib/basics/clock.ts";
import { DESCRIPTOR_RETRY_SECONDS } from "../lib/process/late.ts";
import { startWithDescriptors } from "./thread_start.ts";

/** A thread without requests, and without a memory limit of its own. It holds half of what a thread of Node.js does. */
export interface WebThread {
  /** Ends the thread, or gives up its start. */
  terminate(): void;
}

/** Options of {@linkcode startWebThread}. */
export interface WebThreadOptions {
  /** The module that the thread runs. */
  readonly entry: URL | string;
  /** Called once with the thread, when it starts. Its event handlers belong here. */
  readonly onStart: (thread: Worker) => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/**
 * Starts a web worker: now if enough descriptors are free, otherwise as soon as they are. Without a free descriptor,
 * the platform ends the process.
 */
export function startWebThread(options: WebThreadOptions): WebThread {
  const { clock = systemClock } = options;
  let thread: Worker | null = null;
  let stop = () => {};
  const start = () => {
    thread = tryWebThread(options);
    if (thread === null) stop = clock.after(DESCRIPTOR_RETRY_SECONDS * 1_000, start);
  };
  start();
  return {
    terminate() {
      stop();
      thread?.terminate();
    },
  };
}

/** Starts a web worker if enough descriptors are free, and returns it; null if not. */
export function tryWebThread({ entry, onStart }: Omit<WebThreadOptions, "clock">): Worker | null {
  const thread = startWithDescriptors(() => new Worker(entry, { type: "module" }));
  if (thread !== null) onStart(thread);
  return thread;
}
