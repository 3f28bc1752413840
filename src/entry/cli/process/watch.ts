import { processHeartbeats, startMainHeartbeat } from "../../../platform/lib/process/own_heartbeat.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import { threadModule } from "../../../platform/lib/process/program_files.ts";
import { startWebThread, type WebThread } from "../../../platform/workers/web_thread.ts";
import type { StallLimits } from "./stall_watch.ts";

/** The message that starts the watch in its thread. */
export interface WatchData extends StallLimits {
  readonly buffer: SharedArrayBuffer;
}

/** How long the process may take to end after `server.shutdown_grace`. */
const STOP_MARGIN_MS = 10_000;

/** Settings of {@linkcode openWatch}, in milliseconds. */
export interface WatchSettings {
  /** `server.stall_limit`; 0 for none. */
  readonly stallLimitMs: number;
  /** `server.shutdown_grace`. */
  readonly shutdownGraceMs: number;
}

/** The watch over the threads of this process. */
export interface Watch {
  /**
   * Starts the thread, once, as soon as descriptors are free for it. Threads that were started since
   * {@linkcode openWatch} are watched from then on.
   */
  start(): void;
  /** Starts the time after which the process ends, whatever it does. */
  onStop(): void;
  /** Ends the watch. */
  close(): void;
}

/**
 * Opens the watch of this process: a thread that logs threads whose event loop stands still, and ends the process with
 * SIGKILL when one does for too long, or when a stop does. The thread receives signals to stop by itself, since the
 * main thread may be the one that stands still. See docs/decisions/0158-watch.md.
 */
export function openWatch({ stallLimitMs, shutdownGraceMs }: WatchSettings, log: Log): Watch {
  const endHeartbeat = startMainHeartbeat();
  const heartbeats = processHeartbeats()!;
  let thread: WebThread | null = null;
  const onStart = (worker: Worker) => {
    worker.onerror = (event) => {
      event.preventDefault();
      log.error("watch_ended", { reason: "the thread that watches the others ended; restart the gateway" });
    };
    const data: WatchData = {
      buffer: heartbeats.buffer,
      stallMs: stallLimitMs,
      stopMs: shutdownGraceMs + STOP_MARGIN_MS,
    };
    worker.postMessage(data);
  };
  return {
    start: () => void (thread ??= startWebThread({ entry: threadModule("entry/cli/process/watch_entry"), onStart })),
    onStop: () => heartbeats.setStopping(),
    close() {
      thread?.terminate();
      endHeartbeat();
    },
  };
}
