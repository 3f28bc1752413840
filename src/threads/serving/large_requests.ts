import type { Credential } from "../../money/billing/keys/key_ring.ts";
import type { OpenStreams } from "../../services/calls/stream_relay.ts";
import { NO_LISTED } from "../../vendors/catalog/listed_step.ts";
import type { CallerFormat } from "../../conversation/contract/caller_format.ts";
import type { Inbound } from "../../platform/http/request/inbound.ts";
import { JSON_MEMORY_FACTOR } from "../../platform/http/bodies/json_body.ts";
import { RequestRecord } from "../../platform/http/request/request_record.ts";
import { waitAtMost } from "../../platform/lib/basics/clock.ts";
import { FairQueue } from "../../platform/lib/collections/fair_queue.ts";
import { holdState } from "../../platform/lib/basics/held.ts";
import type { MemoryBudget } from "../../platform/lib/process/memory_budget.ts";
import { THREAD_IDLE_MS, ThreadUnavailable } from "../../platform/workers/worker_thread.ts";
import type { HandedRequest } from "../state/handed_request.ts";
import { type Handing, handOver } from "./handed_reply.ts";
import { arrivalOf, callerLeft, LargeRequest, threadEnded, tooManyQueued } from "./large_request.ts";
import type { ToServing } from "./messages.ts";
import { ServingFacts, type ServingStart } from "./serving_facts.ts";
import { type ServingMessage, ServingThread, type ServingThreadParts } from "./serving_thread.ts";

/** Options of {@linkcode LargeRequests}. */
export interface LargeRequestsOptions extends Omit<ServingThreadParts, "heapMegabytes">, Omit<ServingStart, "listed"> {
  readonly openStreams: OpenStreams;
  /** Limits what the requests of isolates hold. */
  readonly memory: Pick<MemoryBudget, "lease">;
  /** The maximum number of threads. Default: two, or one on a machine with one core. */
  readonly maxThreads?: number;
}

const MAX_THREADS = 2;
const MAX_QUEUED = 512;
const MAX_QUEUED_PER_ACCOUNT = 128;
/** The maximum number of requests that one thread handles. Most of them are streams that wait for their vendor. */
const MAX_OPEN_PER_THREAD = 1_000;
/** The maximum time for parsing a request's values. 20 MB of small values take some seconds. */
const PARSE_MS = 60_000;
/** The additional maximum time for the start of a new thread, which compiles the gateway's code first. */
const START_MS = 60_000;
/** How long a shutdown waits for pending charges and records. */
const LAST_RECORDS_MS = 5_000;
const HEAP_MEGABYTES = 2_048;

interface Member {
  readonly thread: ServingThread;
  /** The requests that have not ended, charges included. */
  readonly open: Map<number, LargeRequest>;
  /** Called when the last request has ended. */
  onNoneOpen: () => void;
  /** The request whose values the thread is parsing. Until that is done, the thread is handed no other. */
  parsing: number | null;
  stopParseTimer: () => void;
  stopIdleTimer: () => void;
}

/**
 * Hands requests with a large body to serving threads that accept no connections, so that a long parse delays nobody.
 *
 * Each thread answers many requests but parses the values of one at a time. Requests wait in a bounded queue that is
 * fair between accounts. If a thread ends unexpectedly, its requests fail with an error of their protocol. Their
 * consumption is charged by a rough count, and another thread replaces it.
 */
export class LargeRequests {
  readonly #queue = new FairQueue<LargeRequest>();
  /** What all threads know of the gateway. */
  readonly facts: ServingFacts;
  readonly #members = new Set<Member>();
  #nextId = 1;
  #isClosed = false;
  #keepsSpare = false;

  constructor(readonly options: LargeRequestsOptions) {
    this.facts = new ServingFacts({ ...options, listed: NO_LISTED }, (message) => this.#postAll(message));
  }

  /** The number of threads. */
  get threads(): number {
    return this.#members.size;
  }

  /**
   * Hands over a request of the main thread and returns its response.
   *
   * @param body Its body. The bytes move to the thread and are empty here afterwards.
   * @param format The caller's wire format.
   * @throws {GatewayError} The errors of the endpoint; `overloaded` if the queue is full.
   */
  handle(
    inbound: Inbound,
    credential: Credential,
    body: Uint8Array<ArrayBuffer>,
    format: CallerFormat,
  ): Promise<Response> {
    const { memory, record } = inbound;
    return handOver({ inbound, credential, body, format }, {
      hand: (request) => this.#accept(new LargeRequest(this.#nextId++, request, { memory, record })),
      openStreams: this.options.openStreams,
    });
  }

  /**
   * Hands over a request of an isolate, which has its caller. Resolves when the request has ended.
   *
   * @throws {GatewayError} `overloaded` if the queue is full or memory is short, and if the thread ends.
   */
  async handOn(request: HandedRequest, callerSignal: AbortSignal): Promise<void> {
    const memory = this.options.memory.lease(request.credential.accountId);
    try {
      if (callerSignal.aborted) throw callerLeft();
      memory.reserve(request.body.byteLength * JSON_MEMORY_FACTOR);
      const record = new RequestRecord(arrivalOf(request)); // the isolate records the request
      const { ended, leave } = this.#accept(new LargeRequest(this.#nextId++, request, { memory, record }));
      callerSignal.addEventListener("abort", leave);
      await ended;
    } finally {
      request.reply.close(); // it has not moved if no thread took the request
      memory.release(memory.held);
    }
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
    this.#failQueued(threadEnded);
    this.#postAll({ type: "abort-for-stop" });
  }

  /** Ends all threads after all requests and their charges have ended, or after five seconds. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#failQueued(threadEnded);
    const settled = Promise.all([...this.#members].map((member) => whenSettled(member)));
    await waitAtMost(this.options.clock, LAST_RECORDS_MS, settled);
    await Promise.all([...this.#members].map((member) => this.#end(member)));
  }

  #accept(request: LargeRequest): Handing {
    const { accountId } = request;
    if (this.#isClosed) throw threadEnded();
    if (this.#queue.size >= MAX_QUEUED || this.#queue.sizeOf(accountId) >= MAX_QUEUED_PER_ACCOUNT) {
      throw tooManyQueued();
    }
    this.#queue.push(accountId, request);
    this.#startNext();
    return { ended: request.ended, leave: () => this.#leave(request) };
  }

  #startNext(): void {
    while (this.#queue.size > 0) {
      const member = this.#freeMember();
      if (member === null) return;
      const request = this.#queue.shift();
      if (request !== null) this.#give(member, request);
    }
  }

  /**
   * Returns the thread with the fewest requests that can be handed another. Creates a new one before a second request.
   */
  #freeMember(): Member | null {
    const free = [...this.#members].filter(({ parsing, open }) => parsing === null && open.size < MAX_OPEN_PER_THREAD);
    if (free.length > 0) return free.reduce((least, other) => other.open.size < least.open.size ? other : least);
    const maxThreads = this.options.maxThreads ?? Math.min(MAX_THREADS, navigator.hardwareConcurrency);
    if (this.#members.size >= maxThreads) return null;
    try {
      return this.#startMember();
    } catch (error) {
      if (!(error instanceof ThreadUnavailable)) throw error;
      if (this.#members.size > 0) return null; // its requests wait for a thread that there is
      this.#failQueued(() => error);
      return null;
    }
  }

  #startMember(): Member {
    const thread = new ServingThread({ ...this.options, heapMegabytes: HEAP_MEGABYTES }, {
      kind: "large requests",
      data: { ...this.facts.start, isolate: null },
      links: {
        requestOf: (id) => member.open.get(id) ?? null,
        onIdle: () => this.#restIfIdle(member),
      },
    }, {
      onMessage: (message) => this.#take(member, message),
      onCrash: (reason) => this.#crash(member, reason),
    });
    const member: Member = {
      thread,
      open: new Map(),
      onNoneOpen() {},
      parsing: null,
      stopParseTimer() {},
      stopIdleTimer() {},
    };
    this.#members.add(member);
    return member;
  }

  #give(member: Member, request: LargeRequest): void {
    const { thread, open } = member;
    const { id } = request;
    member.stopIdleTimer();
    thread.setReferenced(true);
    open.set(id, request);
    request.begin();
    member.parsing = id;
    const patienceMs = PARSE_MS + (thread.hasStarted ? 0 : START_MS);
    member.stopParseTimer = this.options.clock.after(patienceMs, () => this.#crash(member, "the request timed out"));
    thread.post({ type: "request", id, request: request.handed }, [request.handed.body, request.handed.reply]);
  }

  #take(member: Member, message: ServingMessage): void {
    switch (message.type) {
      case "parsed":
        return this.#parsed(member, message.id);
      case "ended": {
        const request = member.open.get(message.id);
        member.open.delete(message.id);
        request?.end();
        this.#parsed(member, message.id);
        if (member.open.size === 0) member.onNoneOpen();
        return this.#restIfIdle(member);
      }
    }
  }

  #parsed(member: Member, id: number): void {
    if (member.parsing !== id) return;
    member.parsing = null;
    member.stopParseTimer();
    this.#startNext();
  }

  #leave(request: LargeRequest): void {
    if (this.#queue.remove(request.accountId, request)) return request.fail(callerLeft());
    for (const { thread, open } of this.#members) {
      if (open.get(request.id) === request) thread.post({ type: "caller-left", id: request.id });
    }
  }

  #failQueued(errorOf: () => Error): void {
    for (let next = this.#queue.shift(); next !== null; next = this.#queue.shift()) next.fail(errorOf());
  }

  #postAll(message: ToServing): void {
    for (const { thread } of this.#members) thread.post(message);
  }

  /** Lets the process exit while a thread is idle, and ends the thread after a delay. */
  #restIfIdle(member: Member): void {
    const { thread, open } = member;
    if (open.size > 0 || !thread.state.isIdle || !this.#members.has(member)) return;
    thread.setReferenced(false);
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
    const { thread, open } = member;
    this.#members.delete(member);
    member.stopParseTimer();
    member.stopIdleTimer();
    const settled = thread.end();
    const lost = [...open.values()];
    open.clear();
    for (const request of lost) request.fail(threadEnded());
    await settled;
    for (const request of lost) request.end();
  }
}

/** Resolves when all requests of a thread have ended, and all its calls are charged. */
async function whenSettled(member: Member): Promise<void> {
  await member.thread.state.whenIdle();
  if (member.open.size > 0) await new Promise<void>((resolve) => void (member.onNoneOpen = resolve));
}
