import { RequestRecord } from "../../src/platform/http/request/request_record.ts";
import type { RecordedArrival } from "../../src/platform/http/request/request_record.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import {
  openSqliteRequestLog,
  type SqliteRequestLogOptions,
} from "../../src/observers/request_log/sqlite_request_log.ts";
import type { RequestLog } from "../../src/observers/request_log/request_log.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** A log of requests and its clock. */
export interface TestLog {
  readonly log: RequestLog;
  readonly clock: ManualClock;
}

/** Opens a log in memory with a real thread, or another one by options. */
export function openTestLog(options: Partial<SqliteRequestLogOptions> = {}): TestLog {
  const clock = new ManualClock(Date.now());
  const log = openSqliteRequestLog({
    path: ":memory:",
    retentionMs: 86_400_000,
    maxBytes: 1e9,
    minFreeBytes: 0,
    bodies: null,
    clock,
    log: silentLog,
    ...options,
  });
  return { log, clock };
}

/** Facts of a request that a test sets. */
export type TestFacts = Partial<Omit<RequestRecord, "arrival">> & Partial<RecordedArrival>;

/** The record of a request that has ended. */
export function recordOf(facts: TestFacts = {}): RequestRecord {
  const { requestId = "req_1", receivedAt = 0, method = "POST", path = "/v1/chat/completions", remote = "10.0.0.1" } =
    facts;
  const { sentPath = path, ...others } = facts;
  const record = new RequestRecord({ requestId, receivedAt, method, sentPath, path, remote });
  const rest = Object.fromEntries(Object.entries(others).filter(([name]) => !ARRIVAL.has(name)));
  return Object.assign(record, { accountId: "acme", keyId: "key_1", status: 200, respondedAt: receivedAt }, rest);
}

const ARRIVAL: ReadonlySet<string> = new Set(["requestId", "receivedAt", "method", "path", "remote"]);
