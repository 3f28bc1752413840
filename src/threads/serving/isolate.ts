import type { LedgerMeter } from "../../money/billing/meter/meter.ts";
import type { RequestObserver } from "../../platform/http/request/request_record.ts";
import { ThreadUse } from "../../platform/lib/process/thread_use.ts";
import type { ProcessCircuitBreaker } from "../../vendors/routing/circuit_breaker.ts";
import { Lessor } from "../leases/lessor.ts";
import type { Lessors } from "../leases/lessors.ts";
import { plainErrorOf } from "../state/plain_error.ts";
import { type SharedParts, SharedState } from "../state/shared_state.ts";
import { startStateThread, type StateThread } from "../state/state_thread.ts";
import type { WorkerThreadEvents } from "../../platform/workers/worker_thread.ts";
import type { FromIsolate, IsolateData, RecordMessage, ToIsolate } from "./messages.ts";
import { Outbox } from "./outbox.ts";
import { lostRequest, observeMessage } from "./record_message.ts";
import { replayThreadJournal, type ThreadJournals } from "../leases/thread_journals.ts";
import { readMessages } from "./wire.ts";
import type { WrittenRecords } from "./written_records.ts";

/** Options of every {@linkcode Isolate} of a gateway. */
export interface IsolateOptions extends SharedParts {
  /** The number of isolates, at least 2. */
  readonly count: number;
  readonly listen: IsolateData["listen"];
  readonly relay: IsolateData["relay"];
  readonly baseUrl: string;
  /** The memory that the requests of all threads may hold, in bytes. */
  readonly memoryBytes: number;
  /** What all threads hold. */
  readonly threadUse: ThreadUse;
  /** 0 in it means that no circuit is open. */
  readonly circuitFlag: SharedArrayBuffer;
  /** 1 in it means that the store takes writes. */
  readonly writableFlag: SharedArrayBuffer;
  readonly meter: LedgerMeter;
  readonly breaker: ProcessCircuitBreaker;
  /** What the isolates lease of accounts. */
  readonly lessors: Lessors;
  /** The journals of their charges; null for a store in memory. */
  readonly journals: ThreadJournals | null;
  /** The folders of the uploads of their requests. */
  readonly uploads: ThreadUploads;
  /** Receives the record of each request at its end. */
  readonly observer: RequestObserver;
  /** Receives what isolates wrote of requests. Null if the observer needs all records. */
  readonly writtenObserver: ((records: WrittenRecords) => void) | null;
  /** Whether there is a log of requests. */
  readonly hasRows: boolean;
  /** Whether requests are counted for the metrics. */
  readonly countsRequests: boolean;
  /** The module that each isolate runs. It receives `IsolateData` and exchanges lists of messages. */
  readonly entry: URL;
  /** The JavaScript heap limit of each isolate in megabytes. */
  readonly heapMegabytes: number;
  /** Replaces the threads in tests. Default: threads that run `entry`. */
  readonly start?: (events: WorkerThreadEvents) => StateThread;
}

/** The folders of the uploads of requests that isolates answer. */
export interface ThreadUploads {
  /** The folder of an isolate that starts. */
  newFolder(): string;
  /** Removes the folder of an isolate that has ended, with the uploads that it left there. Never rejects. */
  remove(folder: string): Promise<void>;
}

/** What an isolate is started with. */
export interface IsolateStart extends Pick<IsolateData, "config" | "listed" | "own" | "journal"> {
  /** Its number, from 1. */
  readonly slot: number;
}

/** What becomes of an isolate. */
export interface IsolateEvents {
  /** It accepts connections. */
  onListening(): void;
  /** It cannot accept connections, and must be ended; the name of the error. */
  onUnable(reason: string): void;
  /** Its thread has ended or failed, before {@linkcode Isolate.end}. It must be ended. */
  onCrash(): void;
  /** A client sent it a wrong key with a request for a catalog. */
  onPublicWrongKey(address: string): void;
  /** A message with this id has taken effect. */
  onAcknowledged(id: number): void;
}

/**
 * One isolate, from the start of its thread to its end. Its thread has access to the state of the main thread, and
 * leases money of accounts.
 */
export class Isolate {
  /** Its number, from 1. */
  readonly slot: number;
  readonly #thread: StateThread;
  readonly #state: SharedState;
  readonly #lessor: Lessor;
  readonly #outbox: Outbox<ToIsolate>;
  /** The folder of its uploads. */
  readonly #uploads: string;
  /** The requests that it announced, and that have not ended. */
  readonly #open = new Map<string, RecordMessage>();
  readonly #listening = Promise.withResolvers<void>();
  readonly #stopped = Promise.withResolvers<void>();
  #isListening = false;
  #hasEnded = false;

  /** Starts the thread. */
  constructor(readonly options: IsolateOptions, start: IsolateStart, readonly events: IsolateEvents) {
    const { meter, lessors, clock } = options;
    this.slot = start.slot;
    this.#listening.promise.catch(() => {}); // a later start has no reader
    const threadEvents: WorkerThreadEvents = {
      onMessage: (posted) => {
        for (const message of readMessages<FromIsolate>(posted)) this.#take(message);
      },
      onCrash: (reason) => this.#crash(reason),
    };
    this.#uploads = options.uploads.newFolder();
    this.#clearUse(); // the one before may have counted until it really ended
    const thread = options.start?.(threadEvents) ??
      startThread(options, { ...start, uploads: this.#uploads }, threadEvents);
    this.#thread = thread;
    this.#outbox = new Outbox(
      (messages, transfer) => thread.post(messages, transfer),
      (message, error) => this.#onUnsent(message, error),
    );
    const lessor = new Lessor({ meter, lessors, clock, post: (message) => this.post(message) });
    lessors.add(lessor);
    this.#lessor = lessor;
    this.#state = new SharedState(options, {
      result: (message, transfer) => this.#outbox.post(message, transfer),
      overdrawn: (admission) => this.post({ type: "overdrawn", admission }),
      requestOf: () => null,
      onIdle() {},
      lend: (caller, limitsId, need) => lessor.lend(caller, limitsId, need),
    });
  }

  /** Whether it accepts connections. */
  get isListening(): boolean {
    return this.#isListening;
  }

  /** Resolves when it accepts connections. Rejects if it cannot, or ends before. */
  get listening(): Promise<void> {
    return this.#listening.promise;
  }

  /** Resolves when it has stopped after a message, and its calls are charged, or when it has ended. */
  get stopped(): Promise<void> {
    return this.#stopped.promise.then(() => this.#state.whenIdle());
  }

  /** Sends it a message. */
  post(message: ToIsolate): void {
    this.#outbox.post(message);
  }

  /**
   * Ends the thread. Its open requests are observed as lost. Resolves when the charges in its journal are recovered.
   *
   * @param isStopping Whether the gateway stops. What cannot be recovered then is left to its next start.
   */
  async end(isStopping: () => boolean): Promise<void> {
    this.#hasEnded = true;
    this.#thread.setReferenced(false);
    this.#thread.terminate();
    this.#clearUse();
    this.#stopped.resolve();
    for (const request of this.#open.values()) observeMessage(lostRequest(request), this.options.observer);
    this.#open.clear();
    await this.#state.onThreadEnd();
    await this.#recoverCharges(isStopping);
    await this.options.uploads.remove(this.#uploads);
  }

  #clearUse(): void {
    new ThreadUse(this.options.threadUse.buffer, this.slot).clear();
  }

  #take(message: FromIsolate): void {
    switch (message.type) {
      case "listening":
        this.#isListening = true;
        this.events.onListening();
        return this.#listening.resolve();
      case "unable":
        return this.#unable(message.reason);
      case "acknowledged":
        return this.events.onAcknowledged(message.id);
      case "record":
        this.#open.delete(message.arrival.requestId);
        return observeMessage(message, this.options.observer);
      case "handed-on":
        return void this.#open.delete(message.requestId);
      case "public-wrong-key":
        return this.events.onPublicWrongKey(message.address);
      case "successes":
        for (const { target, accountId, count } of message.successes) {
          this.options.breaker.noteSuccesses(target, accountId, count);
        }
        return;
      case "records":
        for (const id of message.announced) this.#open.delete(id);
        return this.options.writtenObserver?.(message);
      case "open-requests":
        for (const request of message.requests) this.#open.set(request.arrival.requestId, request);
        return;
      case "failed":
        return this.#crash(message.reason);
      case "stopped":
        return this.#stopped.resolve();
      case "question":
        return this.#thread.sendResult({ id: message.id, value: this.#state.resultOf(message.question) });
      case "lease-report":
        return this.#lessor.onReport(message);
      default:
        return this.#state.onMessage(message);
    }
  }

  /** A result that cannot be sent is a failure for the call that waits for it. */
  #onUnsent(message: ToIsolate, error: unknown): void {
    if (message.type !== "result" || message.failure !== undefined) return reportError(error);
    this.#outbox.post({ type: "result", call: message.call, failure: plainErrorOf(error) });
  }

  #unable(reason: string): void {
    if (this.#hasEnded) return;
    this.#listening.reject(new Error(reason));
    this.events.onUnable(reason);
  }

  #crash(reason: string): void {
    if (this.#hasEnded) return;
    this.options.log.error("worker_crashed", { ref: "isolate", reason });
    this.#listening.reject(new Error(`An isolate ended: ${reason}`));
    this.events.onCrash();
  }

  /** The leases end when the charges that the isolate journaled and did not send are in the ledger. */
  async #recoverCharges(isStopping: () => boolean): Promise<void> {
    const { journals, lessors, meter, clock, log } = this.options;
    if (journals !== null) await replayThreadJournal(this.slot, { journals, clock, log, isStopping });
    for (const accountId of this.#lessor.end()) meter.invalidate(accountId);
    lessors.remove(this.#lessor);
  }
}

function startThread(
  options: IsolateOptions,
  { slot, config, listed, own, journal, uploads }: IsolateStart & Pick<IsolateData, "uploads">,
  events: WorkerThreadEvents,
): StateThread {
  const { entry, heapMegabytes, store, listen, relay, baseUrl, memoryBytes, threadUse } = options;
  const { circuitFlag, writableFlag, writtenObserver, hasRows, countsRequests } = options;
  const data: Omit<IsolateData, "results" | "resultFlag" | "storeLimits" | "storeTime"> = {
    config,
    listed,
    own,
    listen,
    relay,
    baseUrl,
    circuitFlag,
    writableFlag,
    journal,
    uploads,
    writesRecords: writtenObserver !== null,
    hasRows,
    countsRequests,
    memoryBytes,
    useBuffer: threadUse.buffer,
    thread: slot,
  };
  return startStateThread({ kind: "isolate", entry, heapMegabytes, store, data }, events);
}
