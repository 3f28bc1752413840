import {
  type Admission,
  insufficientCredits,
  type LedgerMeter,
  type Meter,
  type Reservation,
} from "../../money/billing/meter/meter.ts";
import type { LeaseNeed } from "../../money/billing/meter/call_lease.ts";
import { textQuantitiesOf } from "../../money/billing/prices/text_quantities.ts";
import { Settlement } from "../../services/calls/settlement.ts";
import type { DatedCatalog } from "../../vendors/catalog/catalog.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import type { OtherAnswer } from "../../conversation/models/answering_models.ts";
import type { RequestRecord } from "../../platform/http/request/request_record.ts";
import type { WrongKeys } from "../../platform/http/wrong_keys.ts";
import { holdState } from "../../platform/lib/basics/held.ts";
import { ShortLivedMap } from "../../platform/lib/collections/short_lived_map.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import type { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import type { HeldMemory } from "../../platform/lib/process/memory_budget.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";
import type { AttemptSlots } from "../../vendors/routing/attempt_slots.ts";
import type { AttemptReport, AttemptTarget, CircuitBreaker } from "../../vendors/routing/circuit_breaker.ts";
import type { Slot } from "../../vendors/routing/slot_queue.ts";
import type { RatesLeft } from "../../money/limits/limits_left.ts";
import type { IdempotencyCounts } from "../../money/limits/idempotency_counts.ts";
import type { LimitedCaller } from "../../money/limits/limited_caller.ts";
import type { Store } from "../../platform/store/store.ts";
import type { KeptValues } from "../../services/texts/memory/bounded_memory.ts";
import type { KeptReasoning } from "../../services/texts/memory/reasoning_memory.ts";
import type { ReplyJobOutcome } from "../../services/texts/large_replies/reply_jobs.ts";
import type { MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import { type BodyOutcome, type BodyRunner, movedBuffersOf } from "../../platform/http/bodies/body_reader.ts";
import type { MediaThreads } from "../../platform/workers/media_work.ts";
import { runJob } from "../../services/texts/large_replies/reply_runner.ts";
import { countTextTokens, estimatedUsage } from "../../services/texts/plan/token_estimate.ts";
import type {
  Admitted,
  BlockingCall,
  BlockingCallResults,
  Call,
  CallMessage,
  FromStateThread,
  LeaseGrant,
  ToStateThread,
} from "./messages.ts";
import type { HandedRequest } from "./handed_request.ts";
import { errorOf, type PlainError, plainErrorOf } from "./plain_error.ts";

/** The state that threads share. */
export interface SharedParts {
  readonly meter: Meter & Partial<Pick<LedgerMeter, "ratesLeft">>;
  /** Delays the errors of wrong keys. Default: threads authenticate nobody. */
  readonly wrongKeys?: Pick<WrongKeys, "refuse">;
  /** Counts the use of idempotency keys. Default: threads accept none. */
  readonly idempotencyCounts?: IdempotencyCounts;
  /** Runs media jobs. Default: threads have none. */
  readonly media?: Pick<MediaThreads, "run">;
  /** Reads large bodies with media. Default: threads have none. */
  readonly bodies?: { readonly run: BodyRunner };
  /** Has a request answered by another thread. Resolves when it has ended. Default: threads hand on none. */
  readonly handOn?: (request: HandedRequest, callerSignal: AbortSignal) => Promise<void>;
  readonly store: Store;
  readonly breaker: CircuitBreaker;
  /** Limits the attempts at providers. Default: no limits. */
  readonly slots?: AttemptSlots;
  readonly catalog: DatedCatalog;
  readonly reasoning: KeptValues<KeptReasoning>;
  readonly items: KeptValues<string>;
  /** Called when a vendor answered with another model than the requested one. Default: nothing. */
  readonly onThreadAnswer?: (answer: OtherAnswer) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** The connection between the state and its thread. */
export interface SharedLinks {
  result(message: ToStateThread & { readonly type: "result" }, transfer?: readonly ArrayBuffer[]): void;
  overdrawn(admission: number): void;
  /** Returns an open request of the thread, or null if there is none. */
  requestOf(id: number): ThreadRequest | null;
  /** Called when the last open admission ends. */
  onIdle(): void;
  /** Lends a part for calls like one that was admitted; null near a limit. Default: nothing is lent. */
  lend?(caller: LimitedCaller, limitsId: number, need: LeaseNeed): LeaseGrant | null;
}

/** A request that a thread answers and the main thread has received. */
export interface ThreadRequest {
  readonly requestId: string;
  readonly keyId: string;
  readonly receivedAt: number;
  /** The request's part of the memory budget. */
  readonly memory: HeldMemory;
  /** Collects what happens to the request. */
  readonly record: RequestRecord;
  /** The size of the body. */
  readonly requestBytes: number;
  /** The number of bytes of the response sent so far. */
  readonly responseBytes: number;
  /** The provider that is serving the request, or null if none is. */
  servedAt: AttemptTarget | null;
}

/** The messages that need no result at once. */
type StateMessage = Exclude<FromStateThread, { readonly type: "question" }>;

interface OpenAdmission {
  readonly admission: Admission;
  readonly accountId: string;
  readonly request: ThreadRequest | null;
  /** Whether nothing is ever charged. */
  readonly isFree: boolean;
}

const BYTES_PER_TOKEN = 4;

/** An attempt at a provider that is under way. */
interface StartedAttempt {
  readonly report: AttemptReport;
  readonly request: ThreadRequest | null;
}

/** The main thread's end of one thread's {@linkcode RemoteState}. */
export class SharedState {
  readonly #admissions = new ShortLivedMap<number, OpenAdmission>();
  readonly #attempts = new ShortLivedMap<number, StartedAttempt>();
  readonly #slots = new ShortLivedMap<number, Slot>();
  /** The calls that end when their callers leave. */
  readonly #cancellable = new ShortLivedMap<number, AbortController>();
  #nextAdmission = 1;
  #nextSlot = 1;
  #isAbandoned = false;
  #settled: PromiseWithResolvers<void> | null = null;

  constructor(readonly parts: SharedParts, readonly links: SharedLinks) {}

  /** Whether the thread has no open call. */
  get isIdle(): boolean {
    return this.#admissions.size === 0;
  }

  /** Resolves when the thread has no open call. */
  whenIdle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return (this.#settled ??= Promise.withResolvers<void>()).promise;
  }

  /** Returns the result of a question. */
  resultOf(question: BlockingCall): BlockingCallResults[keyof BlockingCallResults] {
    switch (question.name) {
      case "availability":
        return this.parts.breaker.availabilityOf(question.target, question.accountId);
      case "reasoning":
        return question.keys.map((key) => this.parts.reasoning.find(key));
      case "items":
        return question.keys.map((key) => this.parts.items.find(key));
      case "memory":
        return this.#takeMemory(question.request, question.bytes);
    }
  }

  #takeMemory(request: number, bytes: number): PlainError | null {
    try {
      this.links.requestOf(request)?.memory.reserve(bytes);
      return null;
    } catch (error) {
      return plainErrorOf(error);
    }
  }

  /** Handles a message of the thread. */
  onMessage(message: StateMessage): void {
    switch (message.type) {
      case "call":
        return holdState(this.#carryOut(message), "a call of a thread");
      case "release":
        this.#admissions.get(message.admission)?.admission.release(message.tokens);
        return this.#ended(message.admission);
      case "cancel-call":
        return this.#cancellable.get(message.call)?.abort();
      case "end-slot":
        return this.#slots.take(message.slot)?.end(message.usedTokens);
      case "give-memory":
        return this.links.requestOf(message.request)?.memory.release(message.bytes);
      case "invalidate":
        return this.parts.meter.invalidate(message.accountId);
      case "attempt":
        return this.#started(message);
      case "attempted":
        return this.#attempted(message);
      case "keep-reasoning":
        return this.parts.reasoning.put(message.key, message.value as KeptReasoning, message.characters);
      case "keep-item":
        return this.parts.items.put(message.key, message.value, message.characters);
      case "other-answer":
        return this.parts.onThreadAnswer?.(message.answer);
      case "log":
        return this.parts.log[message.level](message.event, message.fields);
    }
  }

  /**
   * Handles the end of the thread. Calls that a provider was serving are charged by a rough count: one token for each
   * four bytes of the request and of the sent part of the response. All other reservations end.
   */
  async onThreadEnd(): Promise<void> {
    this.#isAbandoned = true;
    const unsettled = this.#admissions.takeAll().map((admitted) => this.#settleRoughly(admitted));
    for (const { report } of this.#attempts.takeAll()) report.failed(new Error("The thread ended"));
    for (const waiting of this.#cancellable.takeAll()) waiting.abort();
    for (const slot of this.#slots.takeAll()) slot.end(0);
    this.#settled?.resolve();
    await Promise.all(unsettled);
  }

  async #carryOut({ call, request, what }: CallMessage): Promise<void> {
    try {
      const value = await this.#valueOf(call, what, request === null ? null : this.links.requestOf(request));
      this.links.result({ type: "result", call, value }, buffersIn(what.name, value));
    } catch (error) {
      this.links.result({ type: "result", call, failure: plainErrorOf(error) });
    }
  }

  async #valueOf(call: number, what: Call, request: ThreadRequest | null): Promise<unknown> {
    switch (what.name) {
      case "admit": {
        const { caller, reserved, wantsLease } = what;
        const admission = await this.#admit(caller, reserved, request);
        const lease = wantsLease !== null && admission !== null
          ? this.links.lend?.(caller, wantsLease, reserved) ?? null
          : null;
        return { admission, rates: this.#ratesLeft(caller), lease } satisfies Admitted;
      }
      case "probe": {
        const { caller, reserved } = what;
        return void await this.parts.meter.probe(caller, reserved === null ? null : () => reserved);
      }
      case "admit-free":
        return this.#noted(await this.parts.meter.admitFree(what.caller), what.caller, { request, isFree: true });
      case "allowance":
        return await this.parts.meter.allowance(what.caller);
      case "charge": {
        const admitted = this.#admissions.get(what.admission);
        try {
          return await admitted?.admission.charge(what.charge);
        } finally {
          this.#ended(what.admission);
        }
      }
      case "rates-left":
        return this.#ratesLeft(what.caller);
      case "count-tokens":
        return await countTextTokens(what.text);
      case "count-keys": {
        const { account, use, most } = what;
        const { idempotencyCounts: counts } = this.parts;
        return most === null ? await counts?.giveBack(account, use) : await counts?.take(account, use, most);
      }
      case "reply-job":
        return await runJob(what.job, what.accountId);
      case "media-job":
        return await this.parts.media?.run(what.job, what.accountId);
      case "body-job":
        return await this.parts.bodies?.run(what.job, { accountId: what.accountId });
      case "wrong-key":
        return await this.parts.wrongKeys?.refuse(what.address, errorOf(what.error) as GatewayError);
      case "hand-on":
        return await this.#untilLeft(call, (signal) => this.parts.handOn?.(what.request, signal));
      case "slot":
        return await this.#takeSlot(call, what);
      case "store": {
        const method = this.parts.store[what.method] as (...args: readonly unknown[]) => Promise<unknown>;
        return await method.apply(this.parts.store, [...what.args]);
      }
    }
  }

  #ratesLeft(caller: LimitedCaller): RatesLeft | null {
    return this.parts.meter.ratesLeft?.(caller) ?? null;
  }

  async #admit(
    caller: LimitedCaller,
    reserved: Reservation,
    request: ThreadRequest | null,
  ): Promise<number | null> {
    const admission = await this.#admission(caller, reserved);
    return admission === null ? null : this.#noted(admission, caller, { request, isFree: false });
  }

  #noted(admission: Admission, { accountId }: LimitedCaller, of: Pick<OpenAdmission, "request" | "isFree">): number {
    const id = this.#nextAdmission++;
    if (this.#isAbandoned) admission.release();
    else this.#admissions.set(id, { admission, accountId, ...of });
    admission.onOverdrawn(() => this.links.overdrawn(id));
    return id;
  }

  async #takeSlot(call: number, { provider, ...facts }: Call & { readonly name: "slot" }): Promise<number> {
    const slot = await this.#untilLeft(
      call,
      (signal) => this.parts.slots?.take(provider, { ...facts, callerSignal: () => signal }),
    );
    const id = this.#nextSlot++;
    if (this.#isAbandoned) slot?.end(0);
    else if (slot) this.#slots.set(id, slot);
    return id;
  }

  /** Works for a caller whose leave ends the work, as does the end of the thread. */
  async #untilLeft<R>(call: number, work: (callerSignal: AbortSignal) => MaybePromise<R>): Promise<R> {
    const caller = new AbortController();
    this.#cancellable.set(call, caller);
    try {
      return await work(caller.signal);
    } finally {
      this.#cancellable.take(call);
    }
  }

  /** Returns null if the balance or a budget has become too low since the thread's call. */
  async #admission(caller: LimitedCaller, reserved: Reservation): Promise<Admission | null> {
    let isShort = false;
    try {
      return await this.parts.meter.admit(caller, (spendable) => {
        isShort = reserved.amount > 0n && reserved.amount > spendable;
        if (isShort) throw insufficientCredits("other requests have reserved the balance", spendable);
        return reserved;
      });
    } catch (error) {
      if (isShort) return null;
      throw error;
    }
  }

  #ended(admission: number): void {
    if (this.#admissions.take(admission) === undefined || !this.isIdle) return;
    this.#settled?.resolve();
    this.links.onIdle();
  }

  #started({ attempt, request: id, target, accountId }: FromStateThread & { readonly type: "attempt" }): void {
    const request = id === null ? null : this.links.requestOf(id);
    if (request) request.servedAt = target;
    const report = this.parts.breaker.onStart(target, accountId);
    this.#attempts.set(attempt, { report, request });
  }

  #attempted({ attempt, failure }: FromStateThread & { readonly type: "attempted" }): void {
    const started = this.#attempts.take(attempt);
    if (started === undefined) return;
    if (failure === null) return started.report.succeeded();
    if (started.request) started.request.servedAt = null;
    started.report.failed(errorOf(failure));
  }

  async #settleRoughly({ admission, accountId, request, isFree }: OpenAdmission): Promise<void> {
    const model = !isFree && request?.servedAt ? this.#modelServedAt(request.servedAt, request.receivedAt) : null;
    if (!request?.servedAt || model === null) return admission.release();
    const { requestId, keyId, receivedAt, requestBytes, responseBytes, servedAt: { provider } } = request;
    const usage = estimatedUsage(Math.ceil(requestBytes / BYTES_PER_TOKEN), Math.ceil(responseBytes / BYTES_PER_TOKEN));
    this.parts.log.warn("charge_counted_roughly", { requestId, accountId, provider, model: model.id });
    const { record } = request;
    record.hold();
    const facts = { kind: "text", requestId, accountId, keyId, model, receivedAt, record } as const;
    const settlement = new Settlement(facts, admission, this.parts);
    const parts = [{ quantities: textQuantitiesOf(usage), tariff: model.tariff }];
    await settlement.charge({ provider: providerNameOf(provider), state: "cut", parts, usage })?.catch(() => {}); // Logged by the meter.
  }

  #modelServedAt({ provider, model: name }: AttemptTarget, receivedAt: number): Model | null {
    return this.parts.catalog.at(receivedAt).models.find(({ serves }) =>
      serves.some((serving) => serving.provider === providerNameOf(provider) && serving.model === name)
    ) ?? null;
  }
}

/** The buffers that move with the result of a call. */
function buffersIn(name: Call["name"], value: unknown): readonly ArrayBuffer[] {
  if (name === "reply-job") {
    const outcome = value as ReplyJobOutcome;
    return "result" in outcome ? outcome.result.pieces : [];
  }
  if (name === "body-job") return value === undefined ? [] : movedBuffersOf(value as BodyOutcome);
  if (name !== "media-job" || typeof value !== "object" || value === null) return [];
  const buffer = "buffer" in value ? value.buffer : value;
  return buffer instanceof ArrayBuffer ? [buffer] : [];
}
