import type { Meter, Reservation, ReservationRule } from "../../money/billing/meter/meter.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import type { RequestRecord } from "../../platform/http/request/request_record.ts";
import type { FormatAuthor } from "../../conversation/contract/caller_format.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import type { MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import type { LimitedCaller } from "../../money/limits/limited_caller.ts";
import { type Candidate, candidatesFor, recordRoute } from "../../vendors/routing/candidates.ts";
import type { CircuitBreaker } from "../../vendors/routing/circuit_breaker.ts";
import type { AttemptSlots } from "../../vendors/routing/attempt_slots.ts";
import { type AttemptGate, tryInOrder } from "../../vendors/routing/fallback.ts";
import type { FallbackRule } from "../../vendors/routing/fallback_rule.ts";
import { errorForCaller, logFallback } from "../../vendors/routing/caller_error.ts";
import { resolvePin } from "../../vendors/routing/pin.ts";
import type { Provider } from "../../vendors/upstreams/contract/provider.ts";
import { type CallFacts, Settlement, type SettlementParts } from "./settlement.ts";
import { SlotGate } from "./slot_gate.ts";
import { type OpenStreams, shuttingDown } from "./stream_relay.ts";

/** The dependencies of routing. */
export interface RouteParts {
  /** By name. */
  readonly providers: ReadonlyMap<string, Provider>;
  readonly breaker: CircuitBreaker;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Where requests go that are lines of vendors' batches. They have no fallbacks, and the price of batches. */
export interface BatchRouting {
  /** The provider that has the line already; routing is over. Null for a line that is only checked. */
  readonly fixed: Candidate | null;
  /**
   * Picks the provider whose batches take a line.
   *
   * @param candidates Those that may serve it, in the order of routing.
   * @throws If there is none.
   */
  pick(model: Model, candidates: readonly Candidate[]): Candidate;
}

/** The dependencies of paid calls. */
export interface CallParts extends RouteParts, SettlementParts {
  readonly meter: Meter;
  readonly clock: Clock;
  /** Absent for requests that are sent by themselves. */
  readonly batch?: BatchRouting;
  /** Limits the attempts at providers. Default: no limits. */
  readonly slots?: AttemptSlots;
  /** Ends calls without a response when the gateway stops. Default: they go on. */
  readonly openStreams?: Pick<OpenStreams, "calls">;
}

/** The routing input of a request. */
export interface RouteRequest {
  /** The account that is charged. */
  readonly accountId: string;
  /** The pin in the header; null for none. */
  readonly headerPin: string | null;
  /** The pin in the body; null for none. */
  readonly bodyPin: string | null;
  /** Whether a provider supports the request. Default: all do. */
  readonly isAble?: (candidate: Candidate) => boolean;
  /** Collects the choice of providers. Default: it is not recorded. */
  readonly record?: RequestRecord;
}

/** The providers of a call. */
export interface CallRoute {
  /** The pinned provider; null for none. */
  readonly pin: string | null;
  /** The providers to try, in order. */
  readonly candidates: readonly Candidate[];
}

/** An attempt of a call at one provider. Resolves before the first byte is sent to the caller. */
export type CandidateAttempt<T> = (candidate: Candidate) => Promise<T>;

/** The attempts of one call. */
export interface Attempts<T> {
  readonly candidates: readonly Candidate[];
  readonly attempt: CandidateAttempt<T>;
  /** The account of the caller. */
  readonly accountId: string;
  /** The failures after which the next candidate is tried. */
  readonly rule: FallbackRule;
  /** For the log. */
  readonly requestId?: string;
  /** Collects the attempts. */
  readonly record: RequestRecord;
  /** Limits when attempts may start. Default: they start at once. */
  readonly gate?: AttemptGate | null;
}

/** A call that costs money. */
export interface PaidCall<T> extends Pick<Attempts<T>, "candidates" | "rule"> {
  readonly facts: CallFacts;
  /** The key that calls, and its limits. */
  readonly caller: LimitedCaller;
  /** Whether the reservation covers a candidate; always true for the first. Default: all. */
  readonly isPaid?: (candidate: Candidate, reserved: Reservation) => boolean;
  /** The author of the caller's wire format, for errors. */
  readonly author: FormatAuthor;
  /** The estimated tokens of the prompt, for the token limits of providers. Default: 0. */
  readonly promptTokens?: number;
  /** Returns the signal that fires when the caller disconnects, for attempts that wait for a slot. */
  readonly callerSignal: () => AbortSignal;
  /** Calculates the amount to reserve: the maximum cost of the call. */
  readonly reserve: ReservationRule;
  /** Runs once after the admission and returns the attempt function. Attempts charge through the settlement. */
  readonly begin: (settlement: Settlement) => MaybePromise<CandidateAttempt<T>>;
}

/**
 * Returns the providers to try for one call of a model; empty if none supports it. Source: docs/api/routing.md#choice.
 *
 * @throws {GatewayError} As {@linkcode resolvePin} and {@linkcode candidatesFor}.
 */
export function routeOf(model: Model, request: RouteRequest, { providers, breaker, random }: RouteParts): CallRoute {
  const { accountId, headerPin, bodyPin, isAble, record } = request;
  const pin = resolvePin(headerPin, bodyPin, model.id, model.serves, (name) => providers.get(name)?.name === name);
  const able = isAble ? model.serves.filter(isAble) : model.serves;
  const context = { breaker, accountId, random };
  if (record !== undefined) recordRoute(record, { model, pin, able }, context);
  return { pin, candidates: candidatesFor(able, pin, context) };
}

/**
 * Runs one paid call: reserves its maximum cost, tries its candidates, and releases the reservation if all fail.
 *
 * @returns The result of the successful attempt, which charges at once or when its stream ends.
 * @throws {GatewayError} As `Meter.admit`; else the failure of the candidates.
 */
export async function runPaidCall<T>(call: PaidCall<T>, parts: CallParts): Promise<T> {
  const { facts, rule, isPaid = () => true } = call;
  const { requestId, accountId, record } = facts;
  const settlement = new Settlement(facts, await parts.meter.admit(call.caller, call.reserve), parts);
  record.hold();
  record.servedModel = facts.model.id;
  record.reserved = settlement.admission.reserved;
  try {
    const attempt = await call.begin(settlement);
    const candidates = call.candidates.filter((each) => isPaid(each, settlement.admission.reserved));
    const gate = parts.slots?.hasLimits ? gateOf(call, settlement, parts.slots) : null;
    const trying = tryCandidates({ candidates, attempt, accountId, rule, requestId, record, gate }, parts);
    return await (parts.openStreams === undefined ? trying : untilStop(trying, parts.openStreams));
  } catch (error) {
    settlement.release();
    throw errorForCaller(error, { providers: parts.providers, author: call.author });
  }
}

/** A call whose time is over fails, and charges no more. Its vendor's work ends with the process. */
function untilStop<T>(trying: Promise<T>, { calls }: Pick<OpenStreams, "calls">): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const remove = calls.add(() => reject(shuttingDown()));
  trying.then(
    (result) => (remove(), resolve(result)),
    (error) => (remove(), reject(error)),
  );
  return promise;
}

function gateOf<T>(
  { facts: { accountId }, promptTokens: tokens = 0, callerSignal }: PaidCall<T>,
  settlement: Settlement,
  slots: AttemptSlots,
): AttemptGate {
  return new SlotGate(slots, settlement, { accountId, tokens, callerSignal });
}

/**
 * Tries candidates in order, each once, until one succeeds, and logs the failed ones. For calls without a charge;
 * {@linkcode runPaidCall} is for the others.
 *
 * @throws {unknown} The most helpful failure, as it was thrown.
 */
export function tryCandidates<T>(
  { candidates, attempt, accountId, rule, requestId, record, gate = null }: Attempts<T>,
  { breaker, log, clock }: Pick<CallParts, "breaker" | "log" | "clock">,
): Promise<T> {
  const onFallback = (candidate: Candidate, error: unknown) => logFallback(log, candidate, error, requestId);
  return tryInOrder(candidates, { breaker, accountId, rule, gate, onFallback, record, clock }, attempt);
}
