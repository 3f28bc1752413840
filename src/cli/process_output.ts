import type { Config } from "../config/config.ts";
import { placeOf } from "../http/front_door.ts";
import { createLineWriter, type LineWriter } from "../lib/line_writer.ts";
import { droppedLogLine, jsonLog, type Log } from "../lib/log.ts";

/** What a long-running command writes. Neither stream can end or stop the process, whatever becomes of its reader. */
export interface ProcessOutput {
  /** On the standard error output. */
  readonly log: Log;
  /** Writes lines on the standard output. They are dropped when it is closed or full. */
  print(text: string): void;
  /** Resolves when both streams are written, and at the latest after {@linkcode FLUSH_TIMEOUT_MS}. */
  flush(): Promise<void>;
}

/** How long the end of the process waits for a reader of its output. */
const FLUSH_TIMEOUT_MS = 500;

/**
 * Opens the output of this process. From then on an error that nobody caught is logged as `process.failed`, and ends
 * the process with 1: the platform would write it itself, and wait for the reader.
 */
export function openProcessOutput(config: Config): ProcessOutput {
  const errors = createLineWriter({ write: (bytes) => Deno.stderr.write(bytes), droppedLine: droppedLogLine });
  const lines = createLineWriter({ write: (bytes) => Deno.stdout.write(bytes) });
  const log = jsonLog(config.logs.level, (line, level) => errors.write(line, level === "warn" || level === "error"));
  const flush = () => flushAll([errors, lines]);
  const fail = (thrown: unknown) => {
    log.error("process.failed", { reason: placeOf(thrown) });
    void flush().then(() => Deno.exit(1));
  };
  addEventListener("error", (event) => {
    event.preventDefault();
    fail(event.error);
  });
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    fail(event.reason);
  });
  return { log, print: (text) => lines.write(text, true), flush };
}

async function flushAll(writers: readonly LineWriter[]): Promise<void> {
  // The writers' timers do not keep the process alive; this one does.
  const keepAlive = setTimeout(() => {}, FLUSH_TIMEOUT_MS + 100);
  await Promise.all(writers.map((writer) => writer.flush(FLUSH_TIMEOUT_MS)));
  clearTimeout(keepAlive);
}
