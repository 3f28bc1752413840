import { threadModule } from "../../platform/lib/process/program_files.ts";
import { type StartThread, threadStarter } from "../../platform/workers/worker_thread.ts";
import type { LogThreadData } from "./messages.ts";
import type { RequestLog } from "./request_log.ts";
import { LOG_HEAP_MEGABYTES, openThreadedRequestLog, type ThreadedRequestLogOptions } from "./threaded_request_log.ts";

/** Options of {@linkcode openSqliteRequestLog}. */
export interface SqliteRequestLogOptions extends LogThreadData, Pick<ThreadedRequestLogOptions, "clock" | "log"> {
  /** Starts the thread; replaced in tests. */
  readonly start?: StartThread;
}

/** Opens a log of requests in a SQLite file. A thread writes and reads it, since SQLite blocks. */
export function openSqliteRequestLog({ clock, log, start, ...rest }: SqliteRequestLogOptions): RequestLog {
  const { path, retentionMs, maxBytes, minFreeBytes, bodies } = rest;
  const data: LogThreadData = { path, retentionMs, maxBytes, minFreeBytes, bodies };
  const entry = threadModule("observers/request_log/sqlite/log_entry");
  return openThreadedRequestLog({
    clock,
    log,
    start: start ?? threadStarter({ kind: "request log", entry, heapMegabytes: LOG_HEAP_MEGABYTES, data }),
    keepsBodies: bodies !== null,
    isInMemory: path === ":memory:",
  });
}
