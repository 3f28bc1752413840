import type { Meter, Reservation, ReservationRule } from "../billing/meter.ts";
import type { Model } from "../catalog/model.ts";
import type { FormatAuthor } from "../conversation/caller_format.ts";
import { type Candidate, candidatesFor } from "../routing/candidates.ts";
import type { CircuitBreaker } from "../routing/circuit_breaker.ts";
import { tryInTurn } from "../routing/fallback.ts";
import type { FallbackRule } from "../routing/fallback_rule.ts";
import { errorForCaller, logFallback } from "../routing/caller_error.ts";
import { resolvePin } from "../routing/pin.ts";
import type { Provider } from "../upstreams/provider.ts";
import { type CallFacts, Settlement, type SettlementParts } from "./settlement.ts";

/** What calls are routed by. */
export interface RouteParts {
  /** By their names. */
  readonly providers: ReadonlyMap<string, Provider>;
  readonly breaker: CircuitBreaker;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** What paid calls are made with. */
export interface CallParts extends RouteParts, SettlementParts {
  readonly meter: Meter;
}

/** What a request says about where it is served. */
export interface RouteRequest {
  /** The account that pays. */
  readonly accountId: string;
  /** The pin of the header; null for none. */
  readonly headerPin: string | null;
  /** The pin of the body; null for none. */
  readonly bodyPin: string | null;
  /** Whether a provider can do what is asked. Default: each can. */
  readonly isAble?: (candidate: Candidate) => boolean;
}

/** Who is to serve a call. */
export interface CallRoute {
  /** The pinned provider; null for none. */
  readonly pin: string | null;
  /** The providers to try, in order. */
  readonly candidates: readonly Candidate[];
}

/** One try of a call at one provider. Resolves before the first byte goes to the caller. */
export type Attempt<T> = (candidate: Candidate) => Promise<T>;

/** Tries of one call. */
export interface Attempts<T> {
  readonly candidates: readonly Candidate[];
  readonly attempt: Attempt<T>;
  /** The account that asks. */
  readonly accountId: string;
  /** After which failures the next candidate is tried. */
  readonly rule: FallbackRule;
  /** For the log. */
  readonly requestId?: string;
}

/** A call that costs money. */
export interface PaidCall<T> extends Pick<Attempts<T>, "candidates" | "rule"> {
  readonly facts: CallFacts;
  /** Whether what was reserved pays for a candidate. Default: for each. It does for the first at least. */
  readonly isPaid?: (candidate: Candidate, reserved: Reservation) => boolean;
  /** Who defined the caller's wire format, for errors. */
  readonly author: FormatAuthor;
  /** Decides what is reserved while the call is open: what it may cost at most. */
  readonly reserve: ReservationRule;
  /** Does what comes once behind the admission, and gives the tries. They charge by the settlement. */
  readonly begin: (settlement: Settlement) => Attempt<T> | Promise<Attempt<T>>;
}

/**
 * The providers to try for one call of a model; none when none of them is able. Source: docs/api/routing.md#choice.
 *
 * @throws {GatewayError} As {@linkcode resolvePin} and {@linkcode candidatesFor}.
 */
export function routeOf(model: Model, request: RouteRequest, { providers, breaker, random }: RouteParts): CallRoute {
  const { accountId, headerPin, bodyPin, isAble = () => true } = request;
  const pin = resolvePin(headerPin, bodyPin, model.id, model.serves, (name) => providers.has(name));
  return { pin, candidates: candidatesFor(model.serves.filter(isAble), pin, { breaker, accountId, random }) };
}

/**
 * Carries out one paid call: reserves what it may cost, tries its candidates, ends the reservation when none has
 * answered.
 *
 * @returns What the attempt gave that succeeded. That attempt charges, at once or when its stream ends.
 * @throws {GatewayError} `insufficient_credits`; else the failure of the candidates.
 */
export async function runPaidCall<T>(call: PaidCall<T>, parts: CallParts): Promise<T> {
  const settlement = await admit(call, parts);
  try {
    const attempt = await call.begin(settlement);
    const { rule, isPaid = () => true, facts: { requestId, accountId } } = call;
    const candidates = call.candidates.filter((each) => isPaid(each, settlement.admission.reserved));
    return await tryCandidates({ candidates, attempt, accountId, rule, requestId }, parts);
  } catch (error) {
    settlement.release();
    throw errorForCaller(error, { providers: parts.providers, author: call.author });
  }
}

/**
 * Tries candidates one after the other, each once, until one answers, and logs those that were passed over. For calls
 * that cost nothing; {@linkcode runPaidCall} does this for the others.
 *
 * @throws {unknown} What the attempt that tells most threw, as it was thrown.
 */
export async function tryCandidates<T>(
  { candidates, attempt, accountId, rule, requestId }: Attempts<T>,
  { breaker, log }: Pick<CallParts, "breaker" | "log">,
): Promise<T> {
  const onFallback = (candidate: Candidate, error: unknown) => logFallback(log, candidate, error, requestId);
  return await tryInTurn(candidates, { breaker, accountId, rule, onFallback }, attempt);
}

async function admit<T>({ facts, reserve }: PaidCall<T>, parts: CallParts): Promise<Settlement> {
  const admitted = parts.meter.admit(facts.accountId, reserve);
  const admission = admitted instanceof Promise ? await admitted : admitted;
  return new Settlement(facts, admission, parts);
}
