import type { Credential } from "../../money/billing/keys/key_ring.ts";
import type { OpenStreams } from "../../services/calls/stream_relay.ts";
import { type ListedStep, NO_LISTED } from "../../vendors/catalog/listed_step.ts";
import type { Config } from "../../config/config.ts";
import type { CallerFormat } from "../../conversation/contract/caller_format.ts";
import type { Inbound } from "../../platform/http/request/inbound.ts";
import type { RecordedFacts, RequestRecord } from "../../platform/http/request/request_record.ts";
import { waitAtMost } from "../../platform/lib/basics/clock.ts";
import { FairQueue } from "../../platform/lib/collections/fair_queue.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { holdState } from "../../platform/lib/basics/held.ts";
import type { OwnAddress } from "../../platform/net/target.ts";
import {
  THREAD_IDLE_MS,
  ThreadUnavailable,
  type WorkerThread,
  type WorkerThreadEvents,
} from "../../platform/workers/worker_thread.ts";
import type { FromThread, ToThread } from "./messages.ts";
import { LargeRequest } from "./large_request.ts";
import { errorOf } from "../state/plain_error.ts";
import { type SharedParts, SharedState } from "../state/shared_state.ts";
import { startStateThread, type StateThread } from "../state/state_thread.ts";

/** Options of {@linkcode LargeRequests}. */
export interface LargeRequestsOptions extends SharedParts {
  /** At the start. */
  readonly config: Config;
  /** The gateway's own addresses so far. */
  readonly own: readonly OwnAddress[];
  readonly openStreams: OpenStreams;
  /** The module that each thread runs. It receives `ThreadData` and sends `FromThread` messages. */
  readonly entry: URL;
  /** Replaces the threads in tests. Default: threads that run `entry`. */
  readonly start?: (events: WorkerThreadEvents) => StateThread;
  /** The maximum number of threads. Default: two, or one on a machine with one core. */
  readonly maxThreads?: number;
}

const MAX_THREADS = 2;
const MAX_QUEUED = 512;
const MAX_QUEUED_PER_ACCOUNT = 128;
/** The maximum number of requests that one thread handles. Most of them are streams that wait for their vendor. */
const MAX_OPEN_PER_THREAD = 1_000;
/** The maximum time for parsing a request's values. 20 MB of small values take some seconds. */
const DIGEST_MS = 60_000;
/** The additional maximum time for the start of a new thread, which compiles the gateway's code first. */
const START_MS = 60_000;
/** How long a shutdown waits for pending charges and records. */
const LAST_RECORDS_MS = 5_000;
const HEAP_MEGABYTES = 2_048;
const RETRY_AFTER_SECONDS = 5;

interface Member {
  readonly thread: StateThread;
  readonly state: SharedState;
  readonly open: Map<number, LargeRequest>;
  /** The records of the requests that have not ended in the thread. */
  readonly records: Map<number, RequestRecord>;
  /** Called when the last record has ended. */
  onNoRecords: () => void;
  /** The request whose values the thread is parsing. Until that is done, the thread accepts no other. */
  digesting: number | null;
  stopDigestTimer: () => void;
  /** Whether the thread has sent a message, which shows that it has started. */
  hasStarted: boolean;
  stopIdleTimer: () => void;
}

/**
 * Handles requests with a large body in threads, from the bytes of the body to the bytes of the response.
 *
 * Each thread handles many requests but parses the values of one at a time. Requests wait in a bounded queue that is
 * fair between accounts. If a thread ends unexpectedly, its requests fail with an error of their protocol. Their
 * consumption is charged by a rough count, and another thread replaces it.
 */
export class LargeRequests {
  readonly #queue = new FairQueue<LargeRequest>();
  readonly #members = new Set<Member>();
  readonly #own: OwnAddress[];
  #config: Config;
  #listed: readonly ListedStep[] = NO_LISTED;
  #nextId = 1;
  #isClosed = false;
  #keepsSpare = false;

  constructor(readonly options: LargeRequestsOptions) {
    this.#config = options.config;
    this.#own = [...options.own];
  }

  /** The number of threads. */
  get threads(): number {
    return this.#members.size;
  }

  /**
   * Handles a request and returns its response.
   *
   * @param body Its body. The bytes move to the thread and are empty here afterwards.
   * @param format The caller's wire format.
   * @throws {GatewayError} The errors of the endpoint; `overloaded` if the queue is full.
   */
  async handle(
    inbound: Inbound,
    credential: Credential,
    body: Uint8Array<ArrayBuffer>,
    format: CallerFormat,
  ): Promise<Response> {
    const { accountId } = credential;
    if (this.#isClosed) throw ended();
    if (this.#queue.size >= MAX_QUEUED || this.#queue.sizeOf(accountId) >= MAX_QUEUED_PER_ACCOUNT) throw overloaded();
    const request = new LargeRequest({ id: this.#nextId++, inbound, credential, body, format });
    const { signal } = inbound.request;
    const onLeft = () => this.#left(request);
    signal.addEventListener("abort", onLeft);
    request.onEnd = () => signal.removeEventListener("abort", onLeft);
    this.#queue.push(accountId, request);
    if (signal.aborted) onLeft(); // before the listener was there
    this.#startNext();
    return await request.response;
  }

  /** Blocks downloads from that address in all threads. */
  addOwnAddress(address: OwnAddress): void {
    this.#own.push(address);
    for (const { thread } of this.#members) post(thread, { type: "own-address", address });
  }

  /**
   * Adds these models to the configured ones and replaces earlier discovered models, as in the main thread's catalog.
   */
  setListed(listed: readonly ListedStep[]): void {
    this.#listed = listed;
    for (const { thread } of this.#members) post(thread, { type: "listed", listed });
  }

  /**
   * Uses another configuration for later requests, in all threads.
   *
   * @param listed As in {@linkcode LargeRequests.setListed}.
   */
  setConfig(config: Config, listed: readonly ListedStep[]): void {
    this.#config = config;
    this.#listed = listed;
    for (const { thread } of this.#members) post(thread, { type: "config", config, listed });
  }

  /**
   * Sets whether a thread is kept without work. It is, while descriptors are scarce: another one might not start then.
   */
  keepSpare(isKept: boolean): void {
    if (this.#keepsSpare === isKept) return;
    this.#keepsSpare = isKept;
    if (!isKept) { for (const member of this.#members) this.#restIfIdle(member); }
    if (!isKept || this.#members.size > 0 || this.#isClosed) return;
    try {
      this.#startMember().thread.setReferenced(false);
    } catch (error) {
      if (!(error instanceof ThreadUnavailable)) throw error;
    }
  }

  /** Ends all streams, and requests without a response, since the gateway stops. */
  abortForStop(): void {
    for (let next = this.#queue.shift(); next !== null; next = this.#queue.shift()) next.fail(ended());
    this.#abortStreams();
  }

  /** Ends all threads after pending charges are durable and all records have ended, or after five seconds. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (let next = this.#queue.shift(); next !== null; next = this.#queue.shift()) next.fail(ended());
    const settled = Promise.all([...this.#members].map((member) => whenSettled(member)));
    await waitAtMost(this.options.clock, LAST_RECORDS_MS, settled);
    await Promise.all([...this.#members].map((member) => this.#end(member)));
  }

  #startNext(): void {
    while (this.#queue.size > 0) {
      const member = this.#freeMember();
      if (member === null) return;
      this.#give(member, this.#queue.shift()!);
    }
  }

  /**
   * Returns the thread with the fewest requests that can accept another. Creates a new one before a second request.
   */
  #freeMember(): Member | null {
    const free = [...this.#members].filter(({ digesting, open }) =>
      digesting === null && open.size < MAX_OPEN_PER_THREAD
    );
    if (free.length > 0) return free.reduce((least, other) => other.open.size < least.open.size ? other : least);
    const maxThreads = this.options.maxThreads ?? Math.min(MAX_THREADS, navigator.hardwareConcurrency);
    if (this.#members.size >= maxThreads) return null;
    try {
      return this.#startMember();
    } catch (error) {
      if (!(error instanceof ThreadUnavailable)) throw error;
      if (this.#members.size > 0) return null; // its requests wait for a thread that there is
      for (let next = this.#queue.shift(); next !== null; next = this.#queue.shift()) next.fail(error);
      return null;
    }
  }

  #startMember(): Member {
    const events: WorkerThreadEvents = {
      onMessage: (message) => this.#take(member, message as FromThread),
      onCrash: (reason) => this.#crash(member, reason),
    };
    const thread = this.options.start?.(events) ?? this.#startThread(events);
    const state = new SharedState(this.options, {
      result: (message) => post(thread, message),
      overdrawn: (admission) => post(thread, { type: "overdrawn", admission }),
      requestOf: (id) => member.open.get(id) ?? null,
      onIdle: () => this.#restIfIdle(member),
    });
    const member: Member = {
      thread,
      state,
      open: new Map(),
      records: new Map(),
      onNoRecords() {},
      digesting: null,
      stopDigestTimer: () => {},
      hasStarted: false,
      stopIdleTimer: () => {},
    };
    this.#members.add(member);
    return member;
  }

  #startThread(events: WorkerThreadEvents): StateThread {
    const { entry, store } = this.options;
    const data = { config: this.#config, listed: this.#listed, own: this.#own };
    return startStateThread(
      { kind: "large requests", entry, heapMegabytes: HEAP_MEGABYTES, store, data },
      events,
    );
  }

  #give(member: Member, request: LargeRequest): void {
    const { thread, open } = member;
    member.stopIdleTimer();
    thread.setReferenced(true);
    open.set(request.id, request);
    request.record.hold();
    member.records.set(request.id, request.record);
    member.digesting = request.id;
    const patienceMs = DIGEST_MS + (member.hasStarted ? 0 : START_MS);
    member.stopDigestTimer = this.options.clock.after(patienceMs, () => this.#crash(member, "the request timed out"));
    const { message, body } = request.takeMessage();
    request.onPull = () => post(thread, { type: "pull", id: request.id });
    request.onCancel = () => this.#left(request);
    thread.post(message, [body]);
  }

  #take(member: Member, message: FromThread): void {
    member.hasStarted = true;
    switch (message.type) {
      case "digested":
        return this.#digested(member, message.id);
      case "head": {
        const request = member.open.get(message.id);
        const isWhole = message.body !== null;
        request?.onHead(message);
        if (isWhole) this.#over(member, message.id);
        else if (request) request.onShutdown(this.options.openStreams.add(() => this.#abortStreams()));
        return this.#digested(member, message.id);
      }
      case "failed":
        member.open.get(message.id)?.fail(errorOf(message.error));
        this.#over(member, message.id);
        return this.#digested(member, message.id);
      case "piece":
        member.open.get(message.id)?.onChunk(message.piece);
        if (message.piece === null) this.#over(member, message.id);
        return;
      case "broke":
        member.open.get(message.id)?.abort(ended());
        return this.#over(member, message.id);
      case "record":
        return endRecord(member, message.id, message.facts);
      case "question":
        return member.thread.sendResult({ id: message.id, value: member.state.resultOf(message.question) });
      default:
        return member.state.onMessage(message);
    }
  }

  #digested(member: Member, id: number): void {
    if (member.digesting !== id) return;
    member.digesting = null;
    member.stopDigestTimer();
    this.#startNext();
  }

  #over(member: Member, id: number): void {
    const request = member.open.get(id);
    if (!request) return;
    member.open.delete(id);
    request.onEnd();
    this.#restIfIdle(member);
  }

  #left(request: LargeRequest): void {
    const gone = new GatewayError("route_error", "The caller disconnected");
    if (this.#queue.remove(request.accountId, request)) return request.fail(gone);
    for (const member of this.#members) {
      if (member.open.get(request.id) !== request) continue;
      post(member.thread, { type: "left", id: request.id });
      request.fail(gone);
      this.#over(member, request.id);
    }
  }

  #abortStreams(): void {
    for (const { thread } of this.#members) post(thread, { type: "abort-for-stop" });
  }

  /** Lets the process exit while a thread is idle, and ends the thread after a delay. */
  #restIfIdle(member: Member): void {
    if (member.open.size > 0 || !member.state.isIdle || !this.#members.has(member)) return;
    member.thread.setReferenced(false);
    member.stopIdleTimer();
    member.stopIdleTimer = this.options.clock.after(THREAD_IDLE_MS, () => {
      if (this.#keepsSpare && this.#members.size === 1) this.#restIfIdle(member);
      else holdState(this.#end(member), "charges of a thread");
    });
  }

  #crash(member: Member, reason: string): void {
    if (!this.#members.has(member)) return;
    this.options.log.error("worker_crashed", { ref: "large requests", reason, count: member.open.size });
    holdState(this.#end(member), "charges of a thread");
    this.#startNext();
  }

  async #end(member: Member): Promise<void> {
    this.#members.delete(member);
    member.stopDigestTimer();
    member.stopIdleTimer();
    member.thread.setReferenced(false);
    member.thread.terminate();
    const settled = member.state.onThreadEnd();
    for (const request of member.open.values()) {
      request.abort(ended());
      request.onEnd();
    }
    member.open.clear();
    for (const id of member.records.keys()) endRecord(member, id, null);
    await settled;
  }
}

/** @param facts What the thread collected; null if the thread ended before. */
function endRecord(member: Member, id: number, facts: RecordedFacts | null): void {
  const { records } = member;
  const record = records.get(id);
  if (record === undefined) return;
  records.delete(id);
  if (facts !== null) record.adopt(facts);
  record.release();
  if (records.size === 0) member.onNoRecords();
}

/** Resolves when a thread has charged all its calls and sent all its records. A record can follow its response. */
async function whenSettled(member: Member): Promise<void> {
  await member.state.whenIdle();
  if (member.records.size === 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  member.onNoRecords = resolve;
  await promise;
}

function post(thread: WorkerThread, message: ToThread): void {
  thread.post(message, []);
}

function ended(): GatewayError {
  const message = "Cannot finish the request: the worker that handled it ended; send it again";
  return new GatewayError("route_error", message);
}

function overloaded(): GatewayError {
  const message = "Too many large requests are queued; retry in a few seconds";
  return new GatewayError("overloaded", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
