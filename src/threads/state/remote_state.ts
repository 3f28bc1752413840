import { AsyncLocalStorage } from "node:async_hooks";
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { CallAdmission } from "../../money/billing/meter/admission.ts";
import {
  type Admission,
  type Allowance,
  type Charge,
  insufficientCredits,
  type Meter,
  NO_RESERVATION,
  type Reservation,
  type ReservationRule,
  reservedWithin,
  ruleOf,
} from "../../money/billing/meter/meter.ts";
import type { WrongKeys } from "../../platform/http/wrong_keys.ts";
import { ShortLivedMap } from "../../platform/lib/collections/short_lived_map.ts";
import type { Log, LogLevel } from "../../platform/lib/basics/log.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";
import { HeldMemory, UNLIMITED_MEMORY } from "../../platform/lib/process/memory_budget.ts";
import type { AttemptSlots, LimitsByProvider } from "../../vendors/routing/attempt_slots.ts";
import type { Slot, SlotRequest } from "../../vendors/routing/slot_queue.ts";
import type { RatesLeft } from "../../money/limits/limits_left.ts";
import type { IdempotencyCounts } from "../../money/limits/idempotency_counts.ts";
import type { LimitedCaller } from "../../money/limits/limited_caller.ts";
import type { CircuitBreaker } from "../../vendors/routing/circuit_breaker.ts";
import type { Store, StoreLimits } from "../../platform/store/store.ts";
import type { KeptValues } from "../../services/texts/memory/bounded_memory.ts";
import { type BodyOutcome, type BodyReader, bodyReaderBy } from "../../platform/http/bodies/body_reader.ts";
import { type MediaWork, mediaWorkBy } from "../../platform/workers/media_work.ts";
import type { ReplyJobOutcome } from "../../services/texts/large_replies/reply_jobs.ts";
import type { ReplyRunner } from "../../services/texts/large_replies/reply_runner.ts";
import type {
  Admitted,
  BlockingCall,
  BlockingCallResults,
  BlockingResult,
  Call,
  CallMessage,
  FromStateThread,
  LeaseGrant,
  StateThreadData,
  StoreMethod,
  ToStateThread,
} from "./messages.ts";
import type { Moved } from "../../platform/workers/worker_thread.ts";
import type { HandedRequest } from "./handed_request.ts";
import { errorOf, plainErrorOf } from "./plain_error.ts";
import { limitsIdOf } from "./limits_id.ts";
import { sharedStoreClock } from "./shared_store_time.ts";

/** The thread's connection to the main thread. */
export interface StateLink {
  /** Sends a message, immediately or at the end of the turn of the event loop. Buffers and ports of it can move. */
  post(message: FromStateThread, transfer?: readonly Moved[]): void;
  /** Sends what was posted before. */
  flush(): void;
  /** A request waits for something other than this thread. */
  onWaiting(request: number): void;
}

/** The context of the request that a thread works on. */
export interface RequestScope {
  readonly id: number;
  /** The number of lookups of kept values for the request. */
  lookups: number;
}

/**
 * The maximum number of values that are looked up for one request. A longer conversation is sent without the others.
 */
const MAX_LOOKUPS = 5_000;
const ANSWER_MS = 30_000;
const MAX_ALLOWANCES = 10_000;
const MAX_ADMISSION_TRIES = 20;

/**
 * Access from a thread that answers requests to the state on the main thread, by messages. Each part has the interface
 * of the object that it represents.
 */
export class RemoteState {
  /** The request that the running code belongs to. */
  readonly scope = new AsyncLocalStorage<RequestScope>();
  readonly #pending = new ShortLivedMap<number, PromiseWithResolvers<unknown>>();
  readonly #onOverdrawn = new ShortLivedMap<number, () => void>();
  readonly #flag: Int32Array;
  /** Receives the results of {@linkcode BlockingCall}s. */
  readonly answers: MessagePort;
  /** By the limits of a key, as of its last admission or refusal. */
  readonly #rates = new WeakMap<NonNullable<LimitedCaller["limits"]>, RatesLeft>();
  /** What callers could reserve when that was last asked, by key. */
  readonly #allowances = new Map<string, Allowance>();
  /** Receives what the main thread leases to this thread. Null if it leases nothing. */
  onGrant: ((grant: LeaseGrant) => void) | null = null;
  #limits: LimitsByProvider = new Map();
  #nextId = 1;

  /**
   * @param data The data that the thread was started with.
   * @param answerMs The longest wait for the result of a question. Default 30 s.
   */
  constructor(readonly link: StateLink, data: StateThreadData, private readonly answerMs = ANSWER_MS) {
    this.answers = data.results;
    this.#flag = new Int32Array(data.resultFlag);
    this.#storeNow = sharedStoreClock(data.storeTime);
    this.store = this.#storeOf(data.storeLimits);
  }

  /** Handles the result of a call. */
  onResult({ call, value, failure }: ToStateThread & { readonly type: "result" }): void {
    const pending = this.#pending.take(call);
    // At once: a later message can end the lease.
    const lease = (value as Partial<Admitted> | null | undefined)?.lease ?? null;
    if (lease !== null) this.onGrant?.(lease);
    if (failure === undefined) pending?.resolve(value);
    else pending?.reject(errorOf(failure));
  }

  /** A call could not be sent. */
  onUnsent({ call }: CallMessage, error: unknown): void {
    this.#pending.take(call)?.reject(error);
  }

  /** Handles an overdrawn account of an admitted call. */
  onOverdrawn(admission: number): void {
    this.#onOverdrawn.get(admission)?.();
  }

  /**
   * Creates a lease for the request that the running code belongs to. The main thread counts the memory.
   *
   * @param prepaidBytes The bytes that were reserved for it before.
   */
  lease(accountId: string, prepaidBytes: number): HeldMemory {
    const request = this.#request()!;
    return new RemoteLease(accountId, prepaidBytes, {
      take: (bytes) => {
        const refusal = this.#ask({ name: "memory", request, bytes });
        if (refusal !== null) throw errorOf(refusal);
      },
      give: (bytes) => this.link.post({ type: "give-memory", request, bytes }),
    });
  }

  /** Money is reserved and charged on the main thread. */
  readonly meter: Meter = {
    admit: async (request, reservation) => {
      const rule = ruleOf(reservation);
      const caller = plainCaller(request);
      for (let tries = 1;; tries++) {
        const reserved = tries === 1 ? await this.#reserved(rule, caller) : await this.#reservedNow(rule, caller);
        const { admission, rates } = await this.#admitted({
          name: "admit",
          caller,
          reserved,
          wantsLease: this.onGrant === null ? null : limitsIdOf(request.limits),
        });
        if (rates !== null) this.noteRates(caller, rates);
        if (admission !== null) return this.#admission(admission, reserved, caller);
        // Other calls of the account were admitted in the meantime.
        if (tries === MAX_ADMISSION_TRIES) throw insufficientCredits("other requests have reserved the balance", 0n);
      }
    },
    probe: async (request, reservation) => {
      const caller = plainCaller(request);
      const reserved = reservation === null ? null : await this.#reservedNow(ruleOf(reservation), caller);
      await this.#call({ name: "probe", caller, reserved });
      return reserved ?? NO_RESERVATION;
    },
    admitFree: async (caller) => {
      const admission = await this.#call({ name: "admit-free", caller: plainCaller(caller) }) as number;
      return this.#admission(admission, NO_RESERVATION, caller);
    },
    allowance: async (caller) => await this.#call({ name: "allowance", caller: plainCaller(caller) }) as Allowance,
    invalidate: (accountId) => this.link.post({ type: "invalidate", accountId }),
  };

  /** What a caller's limits of rate had left after its last request of this thread; null if that is not known. */
  ratesLeft({ limits }: LimitedCaller): RatesLeft | null {
    return limits === null ? null : this.#rates.get(limits) ?? null;
  }

  /** Counts the tokens of a text, in the main thread's thread for that. */
  async countTokens(text: string): Promise<number> {
    return await this.#call({ name: "count-tokens", text }) as number;
  }

  /** Counted on the main thread, for all threads together. */
  readonly idempotencyCounts: IdempotencyCounts = {
    take: async (account, use, most) => await this.#call({ name: "count-keys", account, use, most }) as boolean,
    giveBack: async (account, use) => void await this.#call({ name: "count-keys", account, use, most: null }),
  };

  /** Does work on a large reply, in the main thread's thread for that. */
  readonly runReplyJob: ReplyRunner = async (job, accountId) =>
    await this.#send({ name: "reply-job", job, accountId }, job.pieces).result as ReplyJobOutcome;

  /** Media work is done in the main thread's threads for that. */
  readonly media: MediaWork = mediaWorkBy((job, accountId) =>
    this.#send({ name: "media-job", job, accountId }, [job.buffer]).result
  );

  /** Large bodies with media are read in the main thread's thread for that. A caller who leaves is not waited for. */
  readonly bodies: BodyReader = bodyReaderBy(async (job, { accountId }) =>
    await this.#send({ name: "body-job", job, accountId }, [job.buffer]).result as BodyOutcome
  );

  /**
   * Hands a request to another thread. `ended` rejects if that one does not take it, or ends before the request.
   *
   * @param request Its body and its port move.
   */
  handOn(request: HandedRequest): { readonly ended: Promise<void>; leave(): void } {
    const { call, result } = this.#send({ name: "hand-on", request }, [request.body, request.reply]);
    return { ended: result.then(() => {}), leave: () => this.link.post({ type: "cancel-call", call }) };
  }

  /** What a caller's limits of rate have left, as another thread was told that answered a request of it. */
  noteRates({ limits }: LimitedCaller, rates: RatesLeft): void {
    if (limits !== null) this.#rates.set(limits, rates);
  }

  /** Delays the error of a wrong key. Failures are counted on the main thread, for all threads together. */
  readonly wrongKeys: Pick<WrongKeys, "refuse"> = {
    refuse: async (address, error) => {
      await this.#call({ name: "wrong-key", address, error: plainErrorOf(error) });
      throw error;
    },
  };

  /** Circuits are evaluated on the main thread, from the results of all threads. */
  readonly breaker: CircuitBreaker = {
    availabilityOf: (target, accountId) => this.#ask({ name: "availability", target, accountId }),
    onStart: (target, accountId) => {
      const attempt = this.#nextId++;
      this.link.post({ type: "attempt", attempt, request: this.#request(), target, accountId });
      this.#onWaiting();
      return {
        succeeded: () => this.link.post({ type: "attempted", attempt, failure: null }),
        failed: (error) => this.link.post({ type: "attempted", attempt, failure: plainErrorOf(error) }),
      };
    },
    health: () => [],
  };

  /** Slots are counted on the main thread, for all threads together. */
  readonly slots: AttemptSlots = {
    hasLimits: false,
    take: (id, request) =>
      this.#limits.has(id) || this.#limits.has(providerNameOf(id)) ? this.#takeSlot(id, request) : null,
    loadOf: () => null,
  };

  /** Sets the providers with limits. */
  setLimits(limits: LimitsByProvider): void {
    this.#limits = limits;
    this.slots.hasLimits = limits.size > 0;
  }

  async #takeSlot(
    provider: string,
    { accountId, tokens, callerSignal, mayWait = true }: SlotRequest,
  ): Promise<Slot> {
    this.#onWaiting();
    const signal = callerSignal?.();
    const { call, result } = this.#send({ name: "slot", provider, accountId, tokens, mayWait });
    const onLeft = () => this.link.post({ type: "cancel-call", call });
    if (signal?.aborted) onLeft();
    else signal?.addEventListener("abort", onLeft);
    try {
      const slot = await result as number;
      let isOpen = true;
      return {
        end: (usedTokens) => {
          if (isOpen) this.link.post({ type: "end-slot", slot, usedTokens });
          isOpen = false;
        },
      };
    } finally {
      signal?.removeEventListener("abort", onLeft);
    }
  }

  #onWaiting(): void {
    const request = this.#request();
    if (request !== null) this.link.onWaiting(request);
  }

  readonly #storeNow: Store["now"];

  /** The records. The main thread has the jobs. */
  readonly store: Store;

  #storeOf(limits: StoreLimits): Store {
    return {
      limits,
      now: this.#storeNow,
      get: (keys) => this.#store("get", keys),
      scan: (prefix, options) => this.#store("scan", prefix, options),
      commit: (operation, commit) => this.#store("commit", operation, commit),
      balance: (account) => this.#store("balance", account),
      ledger: (account, options) => this.#store("ledger", account, options),
      take: (bucket, options) => this.#store("take", bucket, options),
    };
  }

  /** The reasoning that belongs to tool calls. */
  readonly reasoning: KeptValues<unknown> = {
    isEmpty: false,
    put: (key, value, characters) => this.link.post({ type: "keep-reasoning", key, value, characters }),
    find: (key) => this.#mayLookUp() ? this.#ask({ name: "reasoning", keys: [key] })[0] : null,
  };

  /** The output items that requests refer to. */
  readonly items: KeptValues<string> = {
    isEmpty: false,
    put: (key, value, characters) => this.link.post({ type: "keep-item", key, value, characters }),
    find: (key) => this.#mayLookUp() ? this.#ask({ name: "items", keys: [key] })[0] ?? null : null,
  };

  /** The main thread writes the log. */
  readonly log: Log = {
    debug: this.#logAt("debug"),
    info: this.#logAt("info"),
    warn: this.#logAt("warn"),
    error: this.#logAt("error"),
  };

  #logAt(level: LogLevel): Log["info"] {
    return (event, fields = {}) => this.link.post({ type: "log", level, event, fields });
  }

  #admission(admission: number, reserved: Reservation, { accountId }: LimitedCaller): Admission {
    return new CallAdmission(reserved, {
      accountId,
      end: (charge, tokens) => {
        this.#onOverdrawn.take(admission);
        if (charge === null) this.link.post({ type: "release", admission, tokens });
        else return this.#charged(admission, charge);
      },
      whenOverdrawn: (listener) => this.#onOverdrawn.set(admission, listener),
    }, this.log);
  }

  async #charged(admission: number, charge: Charge): Promise<void> {
    await this.#call({ name: "charge", admission, charge });
  }

  /**
   * Reserves by what the caller could reserve before, which saves a round trip: if it is less now, the main thread
   * refuses the admission. A rule that is limited by it is asked again with the present amount.
   */
  async #reserved(rule: ReservationRule, caller: LimitedCaller): Promise<Reservation> {
    const known = this.#allowances.get(caller.keyId);
    if (known === undefined) return await this.#reservedNow(rule, caller);
    try {
      const reserved = reservedWithin(rule, known);
      if (reserved.outputLimit === null) return reserved;
    } catch (error) {
      if (!(error instanceof GatewayError && error.code === "insufficient_credits")) throw error;
    }
    return await this.#reservedNow(rule, caller);
  }

  async #reservedNow(rule: ReservationRule, caller: LimitedCaller): Promise<Reservation> {
    const allowance = await this.#call({ name: "allowance", caller }) as Allowance;
    if (this.#allowances.size >= MAX_ALLOWANCES) this.#allowances.clear();
    this.#allowances.set(caller.keyId, allowance);
    return reservedWithin(rule, allowance);
  }

  async #admitted(call: Call & { readonly name: "admit" }): Promise<Admitted> {
    try {
      return await this.#call(call) as Admitted;
    } catch (error) {
      if (isRateLimited(error)) {
        const { caller } = call;
        const rates = await this.#call({ name: "rates-left", caller }) as RatesLeft | null;
        if (rates !== null) this.noteRates(caller, rates);
      }
      throw error;
    }
  }

  #store<R>(method: StoreMethod, ...args: readonly unknown[]): Promise<R> {
    return this.#call({ name: "store", method, args }) as Promise<R>;
  }

  #call(what: Call): Promise<unknown> {
    return this.#send(what).result;
  }

  #send(
    what: Call,
    transfer: readonly Moved[] = [],
  ): { readonly call: number; readonly result: Promise<unknown> } {
    const call = this.#nextId++;
    const pending = Promise.withResolvers<unknown>();
    this.#pending.set(call, pending);
    this.link.post({ type: "call", call, request: this.#request(), what }, transfer);
    return { call, result: pending.promise };
  }

  /**
   * Sends a question to the main thread and blocks this thread until the result arrives. The result of an earlier
   * question that was given up may arrive first: it belongs to another request.
   */
  #ask<Q extends BlockingCall>(question: Q): BlockingCallResults[Q["name"]] {
    const id = this.#nextId++;
    const until = performance.now() + this.answerMs;
    Atomics.store(this.#flag, 0, 0);
    this.link.post({ type: "question", id, question });
    this.link.flush();
    // Ends with the result, or at its latest time: each round has received at least one earlier result.
    for (;;) {
      const waited = Atomics.wait(this.#flag, 0, 0, Math.max(0, until - performance.now()));
      Atomics.store(this.#flag, 0, 0); // before the port is read, so that a result after that is noticed
      for (let got = receiveMessageOnPort(this.answers); got !== undefined; got = receiveMessageOnPort(this.answers)) {
        const result = got.message as BlockingResult;
        if (result.id === id) return result.value as BlockingCallResults[Q["name"]];
      }
      if (waited === "timed-out") throw new Error("The main thread did not respond");
    }
  }

  #request(): number | null {
    return this.scope.getStore()?.id ?? null;
  }

  #mayLookUp(): boolean {
    const scope = this.scope.getStore();
    return scope === undefined || scope.lookups++ < MAX_LOOKUPS;
  }
}

/** The caller without the other fields of a request, which cannot be sent. */
function plainCaller({ keyId, accountId, limits }: LimitedCaller): LimitedCaller {
  return { keyId, accountId, limits };
}

function isRateLimited(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "rate_limited";
}

/** A lease whose bytes are counted on the main thread. */
class RemoteLease extends HeldMemory {
  constructor(
    accountId: string,
    private prepaidBytes: number,
    readonly counter: { readonly take: (bytes: number) => void; readonly give: (bytes: number) => void },
  ) {
    super(UNLIMITED_MEMORY, accountId);
  }

  override reserve(bytes: number): void {
    const prepaid = Math.min(this.prepaidBytes, bytes);
    if (bytes > prepaid) this.counter.take(bytes - prepaid);
    this.prepaidBytes -= prepaid;
    super.reserve(bytes);
  }

  override release(bytes: number): void {
    const before = this.held;
    super.release(bytes);
    if (before > this.held) this.counter.give(before - this.held);
  }
}
