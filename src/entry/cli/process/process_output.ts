import type { Config } from "../../../config/config.ts";
import { holdWork } from "../../../platform/lib/basics/held.ts";
import { createLineWriter, type LineWriter } from "../../../platform/lib/streams/line_writer.ts";
import { droppedLogLine, jsonLog, type LeveledLog } from "../../../platform/lib/basics/log.ts";
import { stackOf, watchUnhandled } from "../../../platform/lib/process/unhandled.ts";
import { isStateError } from "../../../platform/store/store_errors.ts";

/** The output of a long-running command. A closed or full stream neither ends nor blocks the process. */
export interface ProcessOutput {
  /** Writes to the standard error output. */
  readonly log: LeveledLog;
  /** Writes a text to the standard output. It is dropped if the stream is closed or full. */
  print(text: string): void;
  /** Returns the number of log lines that could not be written. */
  droppedLogLines(): number;
  /** Resolves when both streams are written, and at the latest after half a second. */
  flush(): Promise<void>;
}

/** How long the process waits at its end for a reader of its output. */
const FLUSH_TIMEOUT_MS = 500;

/**
 * Opens the output of this process. Afterwards an error that nothing has handled is logged as `unhandled_error`, and
 * the process goes on. One of the store, or of work that carries state, is logged as `process.failed` and ends the
 * process with exit code 1. Without this the platform would print the error itself and block until it is read, and then
 * end.
 */
export function openProcessOutput(config: Config): ProcessOutput {
  let dropped = 0;
  const droppedLine = (count: number) => {
    dropped += count;
    return droppedLogLine(count);
  };
  const errors = createLineWriter({ write: (bytes) => Deno.stderr.write(bytes), droppedLine });
  const lines = createLineWriter({ write: (bytes) => Deno.stdout.write(bytes) });
  const log = jsonLog(config.logs.level, (line, level) => errors.write(line, level === "warn" || level === "error"));
  const flush = () => flushAll([errors, lines]);
  watchUnhandled({
    isFatal: isStateError,
    onFatal(error) {
      log.error("process.failed", { reason: stackOf(error) });
      holdWork(flush().then(() => Deno.exit(1)));
    },
    onUnhandled: (error) => log.error("unhandled_error", { reason: stackOf(error) }),
  });
  return { log, print: (text) => lines.write(text, true), droppedLogLines: () => dropped, flush };
}

async function flushAll(writers: readonly LineWriter[]): Promise<void> {
  // Unlike the timers of the writers, this one keeps the process alive.
  const keepAlive = setTimeout(() => {}, FLUSH_TIMEOUT_MS + 100);
  await Promise.all(writers.map((writer) => writer.flush(FLUSH_TIMEOUT_MS)));
  clearTimeout(keepAlive);
}
