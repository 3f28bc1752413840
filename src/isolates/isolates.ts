import type { LedgerMeter } from "../billing/meter.ts";
import type { Model } from "../catalog/model.ts";
import type { Config } from "../config/config.ts";
import { BodyCapture } from "../http/body_capture.ts";
import { type RequestObserver, RequestRecord } from "../http/request_record.ts";
import { sleep } from "../lib/clock.ts";
import { ThreadUse } from "../lib/thread_use.ts";
import type { OwnAddress } from "../net/target.ts";
import type { ProcessCircuitBreaker } from "../routing/circuit_breaker.ts";
import { Lessor } from "../thread_state/lessor.ts";
import type { Lessors } from "../thread_state/lessors.ts";
import { type SharedParts, SharedState } from "../thread_state/shared_state.ts";
import { startStateThread, type StateThread } from "../thread_state/state_thread.ts";
import type { WorkerThreadEvents } from "../workers/worker_thread.ts";
import type { FromIsolate, IsolateData, RecordMessage, ThreadJournalPlace, ToIsolate } from "./messages.ts";
import { Outbox } from "./outbox.ts";
import { readMessages } from "./wire.ts";
import type { WrittenRecords } from "./written_records.ts";

/** Options of {@linkcode Isolates}. */
export interface IsolatesOptions extends SharedParts {
  /** At least 2. */
  readonly count: number;
  /** At the start. */
  readonly config: Config;
  /** The models that providers list at the start. */
  readonly discovered: readonly Model[];
  /** The gateway's own addresses so far. */
  readonly own: readonly OwnAddress[];
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
  /** Replaces the threads in tests. Default: threads that run `entry`. */
  readonly start?: (events: WorkerThreadEvents) => StateThread;
}

/** The journals of the charges of isolates, by their numbers. */
export interface ThreadJournals {
  /** Where the journal of an isolate is that starts. */
  placeOf(slot: number): Promise<ThreadJournalPlace>;
  /** Writes the charges to the ledger that an ended isolate left in its journal. Rejects as the store does. */
  replay(slot: number): Promise<void>;
}

/**
 * Why several isolates are of little use on a system; null on Linux, which distributes the connections to one address
 * among all threads that listen there.
 *
 * @param os As `Deno.build.os` names it.
 */
export function unbalancedReason(os: string): string | null {
  return os === "linux"
    ? null
    : `${os} gives most connections to one of several threads: expected server.isolates: 1, or auto, which is 1 here`;
}

/** The JavaScript heap limit of an isolate. */
const HEAP_MEGABYTES = 4_096;
/** The longest wait for an isolate to accept connections, or to apply a change. */
const PATIENCE_MS = 30_000;
/** An isolate that ended is started again after this time, which doubles up to the maximum. */
const MIN_RESTART_MS = 100;
const MAX_RESTART_MS = 10_000;
/** Time between two attempts to write the charges of an isolate that has ended to the ledger. */
const REPLAY_RETRY_MS = 1_000;

/** An isolate, from its start to its end. */
interface Member {
  readonly thread: StateThread;
  readonly state: SharedState;
  readonly lessor: Lessor;
  /** The requests that it announced, and that have not ended. */
  readonly open: Map<string, RecordMessage>;
  readonly listening: PromiseWithResolvers<void>;
  readonly stopped: PromiseWithResolvers<void>;
  readonly outbox: Outbox<ToIsolate>;
  /** Its number, from 1. */
  readonly slot: number;
  isListening: boolean;
}

/**
 * Threads that accept connections at one address and answer text requests. The main thread has the store, the money,
 * the jobs and the other endpoints. An isolate that ends is started again; its requests fail, and those of the others
 * continue.
 */
export class Isolates {
  readonly #members = new Set<Member>();
  readonly #own: OwnAddress[];
  readonly #pending = new Map<number, { readonly waiting: Set<Member>; readonly done: () => void }>();
  #config: Config;
  #discovered: readonly Model[];
  #nextId = 1;
  #restartMs = MIN_RESTART_MS;
  #isStarted = false;
  #isStopping = false;
  #changes: Promise<void> = Promise.resolve();

  constructor(readonly options: IsolatesOptions) {
    this.#config = options.config;
    this.#discovered = options.discovered;
    this.#own = [...options.own];
  }

  /** The number of isolates that accept connections. */
  get listening(): number {
    return [...this.#members].filter(({ isListening }) => isListening).length;
  }

  /**
   * Starts all isolates.
   *
   * @throws {Error} If one cannot accept connections. The others are ended then.
   */
  async start(): Promise<void> {
    const slots = Array.from({ length: this.options.count }, (_, n) => n + 1);
    const { journals } = this.options;
    const places = journals && await Promise.all(slots.map((slot) => journals.placeOf(slot)));
    const members = slots.map((slot, n) => this.#startMember(slot, places?.[n] ?? null));
    try {
      await Promise.all(members.map(({ listening }) => listening.promise));
      this.#isStarted = true;
    } catch (error) {
      this.#isStopping = true;
      await Promise.all(members.map((member) => this.#end(member)));
      throw error;
    }
  }

  /** Blocks downloads from that address. */
  addOwnAddress(address: OwnAddress): void {
    this.#own.push(address);
    this.#postAll({ type: "own-address", address });
  }

  /** Replaces the models that providers list. */
  setDiscovered(models: readonly Model[]): void {
    this.#discovered = models;
    this.#postAll({ type: "discovered", models });
  }

  /** Uses another configuration for later requests. {@linkcode Isolates.changesApplied} resolves when all do. */
  setConfig(config: Config, discovered: readonly Model[]): void {
    this.#config = config;
    this.#discovered = discovered;
    this.#change((id) => ({ type: "config", id, config, discovered }));
  }

  /** Forgets an account's keys. {@linkcode Isolates.changesApplied} resolves when all isolates have. */
  evictAccount(accountId: string): void {
    this.#change((id) => ({ type: "evict", id, accountId }));
  }

  /** Removes the kept replies of an account. {@linkcode Isolates.changesApplied} resolves when all isolates have. */
  forgetReplies(accountId: string): void {
    this.#change((id) => ({ type: "forget-replies", id, accountId }));
  }

  /** Resolves when all isolates apply the changes so far, or have ended. */
  get changesApplied(): Promise<void> {
    return this.#changes;
  }

  /** Resolves when the observer has received the records of all requests that have ended. */
  recordsSent(): Promise<void> {
    return this.#acknowledgedByAll((id) => ({ type: "send-records", id }));
  }

  /** Ends all open streams with an error event of their protocol. */
  abortStreams(): void {
    this.#postAll({ type: "abort-streams" });
  }

  /** Stops accepting, waits up to `graceMs` for running requests, and ends the isolates. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#postAll({ type: "stop", graceMs });
    const { promise: waited, resolve } = Promise.withResolvers<void>();
    const cancel = this.options.clock.after(graceMs + PATIENCE_MS, resolve);
    await Promise.race([
      waited,
      Promise.all([...this.#members].map(({ stopped, state }) => stopped.promise.then(() => state.whenIdle()))),
    ]);
    cancel();
    await Promise.all([...this.#members].map((member) => this.#end(member)));
  }

  #change(messageOf: (id: number) => ToIsolate): void {
    this.#changes = Promise.all([this.#changes, this.#acknowledgedByAll(messageOf)]).then(() => {});
  }

  /** Sends a message to all isolates. Resolves when all have acknowledged it, or have ended. */
  #acknowledgedByAll(messageOf: (id: number) => ToIsolate): Promise<void> {
    const id = this.#nextId++;
    const waiting = new Set(this.#members);
    if (waiting.size === 0) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.options.clock.after(PATIENCE_MS, resolve);
    this.#pending.set(id, { waiting, done: resolve });
    this.#postAll(messageOf(id));
    return promise.then(() => {
      cancel();
      this.#pending.delete(id);
    });
  }

  #acknowledged(member: Member, id: number): void {
    const pending = this.#pending.get(id);
    pending?.waiting.delete(member);
    if (pending?.waiting.size === 0) pending.done();
  }

  #startMember(slot: number, journal: ThreadJournalPlace | null): Member {
    const { options } = this;
    const events: WorkerThreadEvents = {
      onMessage: (posted) => {
        for (const message of readMessages<FromIsolate>(posted)) this.#take(member, message);
      },
      onCrash: (reason) => this.#crash(member, reason),
    };
    const thread = options.start?.(events) ?? this.#startThread(events, { slot, journal });
    const { meter, lessors, clock } = options;
    const lessor = new Lessor({ meter, lessors, clock, post: (message) => this.#post(member, message) });
    lessors.add(lessor);
    const state = new SharedState(options, {
      result: (message) => this.#post(member, message),
      overdrawn: (admission) => this.#post(member, { type: "overdrawn", admission }),
      requestOf: () => null,
      onIdle() {},
      lend: (caller, limitsId, need) => lessor.lend(caller, limitsId, need),
    });
    const member: Member = {
      thread,
      state,
      lessor,
      open: new Map(),
      listening: Promise.withResolvers(),
      stopped: Promise.withResolvers(),
      outbox: new Outbox((messages, transfer) => thread.post(messages, transfer)),
      slot,
      isListening: false,
    };
    member.listening.promise.catch(() => {}); // a later start has no reader
    this.#members.add(member);
    return member;
  }

  #startThread(
    events: WorkerThreadEvents,
    { slot, journal }: Pick<Member, "slot"> & Pick<IsolateData, "journal">,
  ): StateThread {
    const { entry, store, listen, relay, baseUrl, memoryBytes, threadUse, count } = this.options;
    const { circuitFlag, writableFlag, writtenObserver, hasRows, countsRequests } = this.options;
    const data: Omit<IsolateData, "results" | "resultFlag" | "storeLimits"> = {
      config: this.#config,
      discovered: this.#discovered,
      own: this.#own,
      listen,
      relay,
      baseUrl,
      circuitFlag,
      writableFlag,
      journal,
      writesRecords: writtenObserver !== null,
      hasRows,
      countsRequests,
      memoryBytes: Math.floor(memoryBytes / count),
      allMemoryBytes: memoryBytes,
      useBuffer: threadUse.buffer,
      thread: slot,
    };
    return startStateThread({ entry, heapMegabytes: HEAP_MEGABYTES, storeLimits: store.limits, data }, events);
  }

  #postAll(message: ToIsolate): void {
    for (const member of this.#members) this.#post(member, message);
  }

  #post(member: Member, message: ToIsolate): void {
    member.outbox.post(message);
  }

  #take(member: Member, message: FromIsolate): void {
    switch (message.type) {
      case "listening":
        member.isListening = true;
        this.#restartMs = MIN_RESTART_MS;
        return member.listening.resolve();
      case "unable":
        return this.#unable(member, message.reason);
      case "acknowledged":
        return this.#acknowledged(member, message.id);
      case "record":
        member.open.delete(message.arrival.requestId);
        return this.#observe(message);
      case "successes":
        for (const { target, accountId, count } of message.successes) {
          this.options.breaker.noteSuccesses(target, accountId, count);
        }
        return;
      case "records":
        for (const id of message.announced) member.open.delete(id);
        return this.options.writtenObserver?.(message);
      case "open-requests":
        for (const request of message.requests) member.open.set(request.arrival.requestId, request);
        return;
      case "failed":
        return this.#crash(member, message.reason);
      case "stopped":
        return member.stopped.resolve();
      case "question":
        return member.thread.sendResult(member.state.resultOf(message.question));
      case "lease-report":
        return member.lessor.onReport(message);
      default:
        return member.state.onMessage(message);
    }
  }

  #observe({ arrival, facts, outcome, bodies }: RecordMessage): void {
    const record = new RequestRecord(arrival, this.options.observer);
    record.adopt(facts);
    Object.assign(record, outcome);
    if (bodies !== null) record.capture = BodyCapture.of(bodies);
    record.release();
  }

  /** At the start {@linkcode Isolates.start} reports it; later the others go on while this one is tried again. */
  #unable(member: Member, reason: string): void {
    if (!this.#members.has(member)) return;
    if (this.#isStarted) this.options.log.error("isolate_not_listening", { reason });
    this.#replace(member, reason);
  }

  #crash(member: Member, reason: string): void {
    if (!this.#members.has(member)) return;
    this.options.log.error("worker_crashed", { ref: "isolate", reason });
    this.#replace(member, `An isolate ended: ${reason}`);
  }

  /** Ends an isolate and starts another one in a while. */
  #replace(member: Member, reason: string): void {
    member.listening.reject(new Error(reason));
    const ended = this.#end(member);
    if (this.#isStopping) return;
    const delayMs = this.#restartMs;
    this.#restartMs = Math.min(2 * this.#restartMs, MAX_RESTART_MS);
    this.options.clock.after(delayMs, () => void this.#restart(member.slot, ended));
  }

  /** The journal of the isolate before must be read first. */
  async #restart(slot: number, ended: Promise<void>): Promise<void> {
    const { journals } = this.options;
    if (journals !== null) await ended;
    const journal = journals && await journals.placeOf(slot);
    if (!this.#isStopping) this.#startMember(slot, journal);
  }

  #clearUse(slot: number): void {
    new ThreadUse(this.options.threadUse.buffer, slot).clear();
  }

  async #end(member: Member): Promise<void> {
    if (!this.#members.delete(member)) return;
    member.thread.setReferenced(false);
    member.thread.terminate();
    this.#clearUse(member.slot);
    member.stopped.resolve();
    for (const id of [...this.#pending.keys()]) this.#acknowledged(member, id);
    for (const request of member.open.values()) this.#observe(lost(request));
    member.open.clear();
    await member.state.onThreadEnd();
    await this.#recoverCharges(member);
  }

  /** The leases end when the charges that the isolate journaled and did not send are in the ledger. */
  async #recoverCharges({ slot, lessor }: Member): Promise<void> {
    const { journals, lessors, meter, clock, log } = this.options;
    for (let isFirst = true; journals !== null; isFirst = false) {
      try {
        await journals.replay(slot);
        break;
      } catch (error) {
        const reason = error instanceof Error ? error.name : typeof error;
        if (isFirst) log.error("isolate_journal_unwritten", { count: slot, reason });
        if (this.#isStopping) break; // the next start replays it
        await sleep(clock, REPLAY_RETRY_MS);
      }
    }
    for (const accountId of lessor.end()) meter.invalidate(accountId);
    lessors.remove(lessor);
  }
}

/** A request whose isolate ended before its reply did. Only what the journal has of it is charged. */
function lost(request: RecordMessage): RecordMessage {
  const { status } = request.outcome;
  const outcome = {
    ...request.outcome,
    status: status === 0 ? INTERNAL_ERROR_STATUS : status,
    code: "internal_error",
    message: "The thread that answered the request ended",
  };
  return { ...request, outcome, bodies: null };
}

const INTERNAL_ERROR_STATUS = 500;
