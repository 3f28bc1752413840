import { dirname } from "node:path";
import { localPathOf, storeAddressOf } from "../../../config/tree/store_address.ts";
import type { Config } from "../../../config/config.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import {
  makePrivateFolder,
  PRIVATE_FILE_MODE,
  restrictPermissions,
} from "../../../platform/lib/process/private_path.ts";
import { asUnwritableError } from "../../../platform/lib/process/unwritable.ts";
import type { RequestLog } from "../../../observers/request_log/request_log.ts";
import type { Services } from "./services.ts";
import { openSqliteRequestLog } from "../../../observers/request_log/sqlite_request_log.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const postgresRequestLogModule = new Late(() => import("../../../observers/request_log/postgres_request_log.ts"));

/** What a log of requests belongs to. */
export interface RequestLogOwner {
  readonly config: Pick<Config, "store" | "files" | "requestLog" | "limits">;
  readonly clock: Clock;
  readonly log: Log;
  /** What a log in memory starts in the place of its thread; null, or absent, if a thread runs it. */
  readonly memoryLog?: Services["memoryLog"];
}

/** Options of {@linkcode openRequestLog}. */
export interface OpenRequestLogOptions {
  /** Whether a missing file is created. Default true. */
  readonly isCreated?: boolean;
}

/**
 * Opens the log of requests beside an open store: in a file, or in the database of the store. Returns null if its file
 * is missing and not to be created.
 *
 * @throws {UnwritableError} If this process cannot write its file; it names the setting.
 */
export async function openRequestLog(
  { config, clock, log, memoryLog = null }: RequestLogOwner,
  { isCreated = true }: OpenRequestLogOptions = {},
): Promise<RequestLog | null> {
  const { retentionMs, maxBytes, capture } = config.requestLog;
  const store = storeAddressOf(config.store);
  if (store.engine === "postgres" && config.requestLog.path === null) {
    const { openPostgresRequestLog } = await postgresRequestLogModule.load();
    return openPostgresRequestLog({ url: store.url, retentionMs, maxBytes, bodies: capture, clock, log });
  }
  const path = await requestLogPathOf(config);
  if (path !== MEMORY && !isCreated && await Deno.stat(path).catch(() => null) === null) return null;
  if (path !== MEMORY) await makePrivateFile(path, log);
  const bodiesPath = path === MEMORY ? MEMORY : `${path}.bodies`;
  if (capture !== null && bodiesPath !== MEMORY) await makePrivateFile(bodiesPath, log);
  const data = {
    path,
    retentionMs,
    maxBytes,
    minFreeBytes: config.limits.minFreeDiskBytes,
    bodies: capture === null ? null : { ...capture, path: bodiesPath },
  };
  const start = path === MEMORY ? memoryLog?.(data) : undefined;
  return openSqliteRequestLog({ ...data, clock, log, ...(start && { start }) });
}

/**
 * Opens the log of requests of a process that answers requests. What is read includes every request that has ended.
 *
 * @throws {UnwritableError} As {@linkcode openRequestLog}.
 */
export async function openCurrentRequestLog(
  owner: RequestLogOwner & Pick<Services, "onRecordsRead">,
): Promise<RequestLog | null> {
  const requestLog = await openRequestLog(owner);
  if (requestLog === null) return null;
  const allReceived = async () => void await Promise.all(owner.onRecordsRead.map((onRead) => onRead()));
  return {
    observe: requestLog.observe,
    observeRows: requestLog.observeRows,
    get stats() {
      return requestLog.stats;
    },
    list: (query, reader) => allReceived().then(() => requestLog.list(query, reader)),
    get: (requestId, reader) => allReceived().then(() => requestLog.get(requestId, reader)),
    bodies: (requestId) => allReceived().then(() => requestLog.bodies(requestId)),
    deleteAccount: (account) => allReceived().then(() => requestLog.deleteAccount(account)),
    close: () => requestLog.close(),
  };
}

/** The path of a log of requests in memory. */
export const MEMORY = ":memory:";

/**
 * The path of the log of requests if it is in a file. The path of the store is real, as for its journal: two links to
 * one store have one log.
 */
export async function requestLogPathOf(config: RequestLogOwner["config"]): Promise<string> {
  if (config.requestLog.path !== null) return config.requestLog.path;
  const path = await localPathOf(config);
  return path === null ? MEMORY : `${path}.requests`;
}

/** SQLite gives its other files the mode of this one. */
async function makePrivateFile(path: string, log: Log): Promise<void> {
  try {
    await makePrivateFolder(dirname(path));
    (await Deno.open(path, { append: true, create: true, mode: PRIVATE_FILE_MODE })).close();
    await restrictPermissions(path, log);
  } catch (error) {
    throw asUnwritableError("request_log.path", path, error);
  }
}
