import { protocolAt, PROTOCOLS } from "../../platform/endpoints/protocols.ts";
import { CONSOLE_API, CONSOLE_ROOT } from "../../platform/endpoints/service.ts";
import type { RequestObserver, RequestRecord } from "../../platform/http/request/request_record.ts";
import { type Clock, waitAtMost } from "../../platform/lib/basics/clock.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { holdWork } from "../../platform/lib/basics/held.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import {
  type StartThread,
  THREAD_IDLE_MS,
  ThreadUnavailable,
  type WorkerThread,
} from "../../platform/workers/worker_thread.ts";
import { AnonymousLimit } from "./anonymous_limit.ts";
import { CallerQuestions, type LogReader } from "./caller_questions.ts";
import type { FromLogThread, ListAnswer, LogQuestion, ToLogThread } from "./messages.ts";
import { QueuedRows } from "./queued_rows.ts";
import type {
  LoggedRequest,
  RequestLog,
  RequestLogStats,
  RequestPage,
  StoredBodies,
  WrittenRows,
} from "./request_log.ts";
import { readRow, type StoredRow, withoutRows } from "./row.ts";

/** Options of {@linkcode openThreadedRequestLog}. */
export interface ThreadedRequestLogOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Starts the thread that writes and reads the log. It exchanges the messages of `messages.ts`. */
  readonly start: StartThread;
  /** Whether the thread keeps captured bodies. */
  readonly keepsBodies: boolean;
  /** Whether the log ends with its thread. */
  readonly isInMemory: boolean;
}

/**
 * The longest time that a row waits for others to share its transaction. Each batch costs a millisecond of both
 * threads, mostly for caches that the other one filled. Source: docs/decisions/0145-cost-of-observing.md.
 */
export const FLUSH_MS = 500;
/** A batch of this many rows is written at once. */
const FLUSH_ROWS = 5_000;
/** Questions under way; further ones are refused. Those of callers are few of them: see {@linkcode CallerQuestions}. */
export const MAX_QUESTIONS = 32;

/** A thread that ended is started again after this time. */
const RESTART_MS = 1_000;
/** Time between two log lines about dropped rows. */
const REPORT_MS = 10_000;
/** Time between two removals of old rows while no rows come in. */
const TRIM_MS = 3_600_000;
/** The longest wait for the thread at the end. */
const CLOSE_MS = 5_000;
/** Bytes of bodies that wait for the thread; further bodies are dropped. */
const MAX_SENT_BODY_BYTES = 33_554_432;
/** Accounts whose requests are not logged any more. */
const MAX_EXCLUDED = 10_000;
/** The JavaScript heap limit of a log's thread. */
export const LOG_HEAP_MEGABYTES = 128;
const RETRY_AFTER_SECONDS = 1;

/**
 * Opens a log of requests that a thread writes and reads. The thread starts with the first rows or the first question,
 * and ends after some time without either.
 *
 * record → batch (500 ms or 5,000 rows) → thread: one transaction → acknowledged, or dropped and counted
 */
export function openThreadedRequestLog(options: ThreadedRequestLogOptions): RequestLog {
  const log = new ThreadedRequestLog(options);
  const callers = new CallerQuestions();
  const ask = (question: LogQuestion, reader: LogReader | undefined) =>
    reader === undefined ? log.ask(question) : callers.ask(reader, () => log.ask(question));
  return {
    observe: log.observe,
    observeRows: log.observeRows,
    get stats() {
      return log.stats;
    },
    async list(query, reader) {
      const { rows, next } = await ask({ type: "list", query }, reader) as ListAnswer;
      return { requests: rows.map(readRow), next } satisfies RequestPage;
    },
    async get(requestId, reader) {
      const row = await ask({ type: "get", requestId }, reader) as StoredRow | null;
      return row === null ? null : readRow(row) satisfies LoggedRequest;
    },
    bodies: async (requestId) => await log.ask({ type: "bodies", requestId }) as StoredBodies | null,
    deleteAccount: async (account) => {
      log.exclude(account);
      return await log.ask({ type: "delete-account", account }) as number;
    },
    close: () => log.close(),
  };
}

type Question = PromiseWithResolvers<unknown>;

class ThreadedRequestLog {
  readonly #queue = new QueuedRows();
  readonly #anonymous = new AnonymousLimit();
  readonly #questions = new Map<number, Question>();
  #thread: WorkerThread | null = null;
  #startsAt = -Infinity;
  #nextQuestion = 1;
  #isFlushTimed = false;
  #isClosed = false;
  #dropped = 0;
  #droppedBodies = 0;
  /** Bytes of bodies that the thread has not written yet. */
  #sentBodyBytes = 0;
  #reportedDropped = 0;
  #skipped = 0;
  #dropReason = "";
  #isReportTimed = false;
  /** Accounts whose requests are not logged, the first ones first. */
  readonly #excluded = new Set<string>();
  #stopIdleTimer = () => {};
  #stopTrimTimer = () => {};

  constructor(readonly options: ThreadedRequestLogOptions) {
    if (!options.isInMemory) this.#trimLater();
  }

  readonly observe: RequestObserver = (record) => {
    if (record.isProbe || this.#isClosed || isOfOperators(record.arrival.path)) return;
    if (record.accountId !== null && this.#excluded.has(record.accountId)) return;
    const now = this.options.clock.now();
    if (record.accountId === null && !this.#anonymous.take(record.arrival.remote, now)) {
      this.#skipped++;
      return;
    }
    this.#keepBodies(record, now);
    if (!this.#queue.push(record, now)) return this.#drop(1, "too many rows are queued");
    if (this.#queue.waiting >= FLUSH_ROWS) this.#flush();
    else this.#flushLater();
  };

  readonly observeRows = (written: WrittenRows): void => {
    if (this.#isClosed) return;
    const rows = this.#excluded.size === 0 ? written : this.#withoutExcluded(written);
    if (!this.#queue.pushText(rows)) return this.#drop(rows.rows, "too many rows are queued");
    if (this.#queue.waiting >= FLUSH_ROWS) this.#flush();
    else if (this.#queue.waiting > 0) this.#flushLater();
  };

  #withoutExcluded(written: WrittenRows): WrittenRows {
    if (!written.accounts.some((account) => this.#excluded.has(account))) return written;
    const { text, rows } = withoutRows(written.text, (account) => this.#excluded.has(account));
    return { ...written, text, rows };
  }

  /** Requests of the account that end from now on are not logged. Requests under way end soon, so few are needed. */
  exclude(account: string): void {
    this.#excluded.delete(account);
    this.#excluded.add(account);
    for (const first of this.#excluded) {
      if (this.#excluded.size <= MAX_EXCLUDED) break;
      this.#excluded.delete(first);
    }
  }

  get stats(): RequestLogStats {
    const [dropped, skipped, droppedBodies] = [this.#dropped, this.#skipped, this.#droppedBodies];
    return { dropped, skipped, queued: this.#queue.size, droppedBodies };
  }

  /** The thread encrypts and writes them. Their buffers move to it. */
  #keepBodies({ capture, status, end, accountId, arrival: { requestId } }: RequestRecord, at: number): void {
    if (capture === null || !this.options.keepsBodies) return;
    const kept = capture.take(status >= 400 || (end !== null && end !== "completed"));
    if (kept === null) return;
    const [request, response] = [kept.request?.buffer ?? null, kept.response?.buffer ?? null];
    const bytes = (request?.byteLength ?? 0) + (response?.byteLength ?? 0);
    const thread = this.#sentBodyBytes + bytes > MAX_SENT_BODY_BYTES ? null : this.#runningThread();
    if (thread === null) return void this.#droppedBodies++;
    this.#sentBodyBytes += bytes;
    const buffers = [request, response].filter((buffer) => buffer !== null);
    this.#send(thread, { type: "bodies", requestId, accountId, at, request, response, isCut: kept.isCut }, buffers);
  }

  /** Asks the thread. Rows that were observed before are written first. */
  ask(question: LogQuestion): Promise<unknown> {
    if (this.#questions.size >= MAX_QUESTIONS) {
      const message = "Too many queries of the request log are under way; retry in a second";
      return Promise.reject(new GatewayError("overloaded", message, { retryAfterSeconds: RETRY_AFTER_SECONDS }));
    }
    this.#flush();
    const thread = this.#runningThread();
    if (thread === null) return Promise.reject(unreadable("its thread ended"));
    const id = this.#nextQuestion++;
    const asked = Promise.withResolvers<unknown>();
    this.#questions.set(id, asked);
    this.#send(thread, { type: "question", id, question });
    return asked.promise;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopTrimTimer();
    this.#startsAt = -Infinity;
    if (!this.options.isInMemory) this.#flush();
    if (this.#thread !== null && !this.options.isInMemory) await this.#endThread();
    this.#terminate("the gateway is shutting down");
    this.#report();
  }

  #flushLater(): void {
    if (this.#isFlushTimed) return;
    this.#isFlushTimed = true;
    this.options.clock.after(FLUSH_MS, () => {
      this.#isFlushTimed = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#queue.waiting === 0) return;
    const thread = this.#runningThread();
    if (thread === null) return this.#flushLater();
    this.#send(thread, { type: "append", ...this.#queue.take() });
  }

  #send(thread: WorkerThread, message: ToLogThread, transfer: readonly ArrayBuffer[] = []): void {
    this.#stopIdleTimer();
    thread.setReferenced(true);
    thread.post(message, [...transfer]);
  }

  /** Null for a while after the thread has crashed, or could not be started. */
  #runningThread(): WorkerThread | null {
    if (this.#thread !== null) return this.#thread;
    if (this.options.clock.monotonicMs() < this.#startsAt) return null;
    try {
      return this.#thread = this.#startThread();
    } catch (error) {
      if (!(error instanceof ThreadUnavailable)) throw error;
      this.#startsAt = this.options.clock.monotonicMs() + RESTART_MS;
      return null;
    }
  }

  #startThread(): WorkerThread {
    return this.options.start({
      onMessage: (message) => this.#take(message as FromLogThread),
      onCrash: (reason) => {
        this.options.log.error("worker_crashed", { ref: "request log", reason });
        this.#startsAt = this.options.clock.monotonicMs() + RESTART_MS;
        this.#terminate("its thread ended");
      },
    });
  }

  #take(message: FromLogThread): void {
    switch (message.type) {
      case "appended":
        this.#queue.finishFirst();
        if (message.failure !== null) this.#drop(message.rows, message.failure);
        break;
      case "kept":
        this.#sentBodyBytes -= message.bytes;
        if (message.failure !== null) this.#droppedBodies++;
        break;
      case "answer":
        this.#takeQuestion(message.id)?.resolve(message.answer);
        break;
      case "failed":
        this.#takeQuestion(message.id)?.reject(unreadable(message.reason));
        break;
    }
    this.#restIfIdle();
  }

  #takeQuestion(id: number): Question | undefined {
    const question = this.#questions.get(id);
    this.#questions.delete(id);
    return question;
  }

  /** An idle thread does not keep the process alive. It ends later, to free its memory, unless the log is in memory. */
  #restIfIdle(): void {
    const thread = this.#thread;
    if (
      thread === null || this.#questions.size > 0 || this.#sentBodyBytes > 0 || this.#queue.size > this.#queue.waiting
    ) return;
    thread.setReferenced(false);
    this.#stopIdleTimer();
    if (this.options.isInMemory || this.#isClosed) return;
    this.#stopIdleTimer = this.options.clock.after(THREAD_IDLE_MS, () => holdWork(this.#endThread()));
  }

  /** Closes the file, then ends the thread. Rows that come meanwhile start another one. */
  async #endThread(): Promise<void> {
    const closed = this.ask({ type: "close" }).catch(() => {}); // its file is closed either way
    await waitAtMost(this.options.clock, CLOSE_MS, closed);
    if (this.#queue.size === this.#queue.waiting && this.#questions.size === 0) this.#terminate("its thread ended");
  }

  #terminate(reason: string): void {
    this.#stopIdleTimer();
    this.#thread?.setReferenced(false);
    this.#thread?.terminate();
    this.#thread = null;
    this.#sentBodyBytes = 0;
    const lost = this.#queue.loseSent();
    if (lost > 0) this.#drop(lost, reason);
    for (const question of this.#questions.values()) question.reject(unreadable(reason));
    this.#questions.clear();
  }

  #trimLater(): void {
    this.#stopTrimTimer = this.options.clock.after(TRIM_MS, () => {
      this.ask({ type: "trim" }).catch(() => {}); // it is tried again in an hour
      this.#trimLater();
    });
  }

  #drop(rows: number, reason: string): void {
    this.#dropped += rows;
    this.#dropReason = reason;
    if (this.#isReportTimed) return;
    this.#report();
    this.#isReportTimed = true;
    this.options.clock.after(REPORT_MS, () => {
      this.#isReportTimed = false;
      this.#report();
    });
  }

  #report(): void {
    const count = this.#dropped - this.#reportedDropped;
    if (count === 0) return;
    this.#reportedDropped = this.#dropped;
    this.options.log.warn("request_log_dropped", { count, reason: this.#dropReason });
  }
}

/**
 * Whether a request is the operators': to the admin API, or one of the console itself, such as a sign-in. The audit log
 * has their changes, and the output of the process all of them.
 */
function isOfOperators(path: string): boolean {
  // What the playground sends to models is a caller's. Source: docs/console.md#playground.
  const sent = path.startsWith(`${CONSOLE_API}/`) ? path.slice(CONSOLE_API.length) : path;
  const protocol = protocolAt(sent);
  return protocol === PROTOCOLS.admin || (protocol === undefined && path.startsWith(CONSOLE_ROOT));
}

function unreadable(reason: string): GatewayError {
  return new GatewayError("storage_unavailable", `Cannot read the request log: ${reason}`);
}
