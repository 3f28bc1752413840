import { accessLog } from "../../platform/http/access_log.ts";
import type { RequestRecord } from "../../platform/http/request/request_record.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import { silentLog } from "../../platform/lib/basics/log.ts";
import type { RequestCounts } from "../../observers/metrics/request_counts.ts";
import { RequestMetrics } from "../../observers/metrics/request_metrics.ts";
import { QueuedRows } from "../../observers/request_log/queued_rows.ts";
import type { WrittenRows } from "../../observers/request_log/request_log.ts";

/** Requests that an isolate answered, as the main thread writes and counts them. */
export interface WrittenRecords {
  /** The fields of their lines in the log, as JSON, with line feeds between. One text is copied faster than many. */
  readonly lines: string;
  /** Null if requests are not counted. */
  readonly counts: RequestCounts | null;
  /** Null if requests are not logged. */
  readonly rows: WrittenRows | null;
}

/** What is written of the requests of an isolate. */
export interface RecordWriterOptions {
  readonly clock: Clock;
  /** Whether there is a log of requests. */
  readonly hasRows: boolean;
  /** Whether requests are counted for the metrics. */
  readonly countsRequests: boolean;
}

/**
 * Writes the records of an isolate's requests in its own thread, so that the main thread only puts texts and numbers
 * together.
 */
export class RecordWriter {
  #lines: string[] = [];
  readonly #accounts = new Set<string>();
  readonly #metrics: RequestMetrics;
  #rows = new QueuedRows();
  readonly #writeLine: (record: RequestRecord) => void;

  constructor(readonly options: RecordWriterOptions) {
    const { clock } = options;
    this.#metrics = new RequestMetrics(clock);
    this.#writeLine = accessLog({
      ...silentLog,
      info: (_event, fields) => void this.#lines.push(JSON.stringify(fields)),
    }, clock);
  }

  /** The number of requests that were not taken. */
  get size(): number {
    return this.#lines.length;
  }

  /** Writes a request. Returns false if the main thread needs its whole record. */
  add(record: RequestRecord): boolean {
    const { accountId, capture, cacheId, isProbe } = record;
    if (accountId === null || capture !== null || cacheId !== undefined || isProbe) return false;
    const { clock, hasRows, countsRequests } = this.options;
    this.#writeLine(record);
    if (countsRequests) this.#metrics.observe(record);
    if (hasRows) {
      this.#accounts.add(accountId);
      this.#rows.push(record, clock.now());
    }
    return true;
  }

  /** Takes what was written. */
  take(): WrittenRecords {
    const { hasRows, countsRequests } = this.options;
    const written = {
      lines: this.#lines.join("\n"),
      counts: countsRequests ? this.#metrics.take() : null,
      rows: hasRows ? { ...this.#rows.take(), accounts: [...this.#accounts] } : null,
    };
    this.#lines = [];
    this.#accounts.clear();
    this.#rows = new QueuedRows();
    return written;
  }
}
