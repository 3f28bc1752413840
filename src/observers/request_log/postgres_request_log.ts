import { threadModule } from "../../platform/lib/process/program_files.ts";
import { threadStarter } from "../../platform/workers/worker_thread.ts";
import type { DatabaseLogData } from "./messages.ts";
import type { RequestLog } from "./request_log.ts";
import { LOG_HEAP_MEGABYTES, openThreadedRequestLog, type ThreadedRequestLogOptions } from "./threaded_request_log.ts";

/** Options of {@linkcode openPostgresRequestLog}. */
export interface PostgresRequestLogOptions extends DatabaseLogData, Pick<ThreadedRequestLogOptions, "clock" | "log"> {}

/**
 * Opens a log of requests in a PostgreSQL database, which the gateways that share the database share. A thread writes
 * and reads it, so that neither takes time of the main thread.
 */
export function openPostgresRequestLog({ clock, log, ...rest }: PostgresRequestLogOptions): RequestLog {
  const { url, retentionMs, maxBytes, bodies } = rest;
  const data: DatabaseLogData = { url, retentionMs, maxBytes, bodies };
  const entry = threadModule("observers/request_log/postgres/log_entry");
  return openThreadedRequestLog({
    clock,
    log,
    start: threadStarter({ kind: "request log", entry, heapMegabytes: LOG_HEAP_MEGABYTES, data }),
    keepsBodies: bodies !== null,
    isInMemory: false,
  });
}
