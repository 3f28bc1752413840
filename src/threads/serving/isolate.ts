import type { LedgerMeter } from "../../money/billing/meter/meter.ts";
import type { RequestObserver } from "../../platform/http/request/request_record.ts";
import { ThreadUse } from "../../platform/lib/process/thread_use.ts";
import type { ProcessCircuitBreaker } from "../../vendors/routing/circuit_breaker.ts";
import { Lessor } from "../leases/lessor.ts";
import type { Lessors } from "../leases/lessors.ts";
import { replayThreadJournal, type ThreadJournalPlace, type ThreadJournals } from "../leases/thread_journals.ts";
import type { IsolateData, RecordMessage, ToServing } from "./messages.ts";
import type { ServingStart } from "./serving_facts.ts";
import { lostRequest, observeMessage } from "./record_message.ts";
import { type ServingMessage, ServingThread, type ServingThreadParts } from "./serving_thread.ts";
import type { WrittenRecords } from "./written_records.ts";

/** Options of every {@linkcode Isolate} of a gateway. */
export interface IsolateOptions extends ServingThreadParts {
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
}

/** The folders of the uploads of requests that isolates answer. */
export interface ThreadUploads {
  /** The folder of an isolate that starts. */
  newFolder(): string;
  /** Removes the folder of an isolate that has ended, with the uploads that it left there. Never rejects. */
  remove(folder: string): Promise<void>;
}

/** What an isolate is started with. */
export interface IsolateStart extends ServingStart {
  /** Its number, from 1. */
  readonly slot: number;
  /** Where its journal of charges is; null for a store in memory. */
  readonly journal: ThreadJournalPlace | null;
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
 * One isolate, from the start of its thread to its end: a serving thread that accepts connections, and leases money of
 * accounts.
 */
export class Isolate {
  /** Its number, from 1. */
  readonly slot: number;
  readonly #thread: ServingThread;
  readonly #lessor: Lessor;
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
    const { slot, journal, config, listed, own } = start;
    this.slot = slot;
    this.#listening.promise.catch(() => {}); // a later start has no reader
    this.#uploads = options.uploads.newFolder();
    this.#clearUse(); // the one before may have counted until it really ended
    const lessor = new Lessor({ meter, lessors, clock, post: (message) => this.post(message) });
    const isolate = isolateDataOf(options, { thread: slot, journal, uploads: this.#uploads });
    this.#thread = new ServingThread(options, {
      kind: "isolate",
      data: { config, listed, own, isolate },
      links: {
        requestOf: () => null,
        onIdle() {},
        lend: (caller, limitsId, need) => lessor.lend(caller, limitsId, need),
      },
    }, {
      onMessage: (message) => this.#take(message),
      onCrash: (reason) => this.#crash(reason),
    });
    lessors.add(lessor);
    this.#lessor = lessor;
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
    return this.#stopped.promise.then(() => this.#thread.state.whenIdle());
  }

  /** Sends it a message. */
  post(message: ToServing): void {
    this.#thread.post(message);
  }

  /**
   * Ends the thread. Its open requests are observed as lost. Resolves when the charges in its journal are recovered.
   *
   * @param isStopping Whether the gateway stops. What cannot be recovered then is left to its next start.
   */
  async end(isStopping: () => boolean): Promise<void> {
    this.#hasEnded = true;
    const ended = this.#thread.end();
    this.#clearUse();
    this.#stopped.resolve();
    for (const request of this.#open.values()) observeMessage(lostRequest(request), this.options.observer);
    this.#open.clear();
    await ended;
    await this.#recoverCharges(isStopping);
    await this.options.uploads.remove(this.#uploads);
  }

  #clearUse(): void {
    new ThreadUse(this.options.threadUse.buffer, this.slot).clear();
  }

  #take(message: ServingMessage): void {
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
      case "lease-report":
        return this.#lessor.onReport(message);
    }
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

function isolateDataOf(
  { listen, relay, baseUrl, memoryBytes, threadUse, circuitFlag, writableFlag, ...options }: IsolateOptions,
  own: Pick<IsolateData, "thread" | "journal" | "uploads">,
): IsolateData {
  const { writtenObserver, hasRows, countsRequests } = options;
  return {
    ...own,
    listen,
    relay,
    baseUrl,
    circuitFlag,
    writableFlag,
    writesRecords: writtenObserver !== null,
    hasRows,
    countsRequests,
    memoryBytes,
    useBuffer: threadUse.buffer,
  };
}
