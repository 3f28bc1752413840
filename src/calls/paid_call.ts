import { costOf, type Quantities } from "../billing/tariff.ts";
import type { Meter } from "../billing/meter.ts";
import type { Model } from "../catalog/model.ts";
import { type Candidate, candidatesFor } from "../routing/candidates.ts";
import type { CircuitBreaker } from "../routing/circuit_breaker.ts";
import { type Judgement, tryInTurn } from "../routing/fallback.ts";
import { errorForCaller, judgeFailure, logFallback } from "../routing/judgement.ts";
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

/** The two places in which a request can pin a provider; null where it does not. */
export interface Pins {
  readonly header: string | null;
  readonly body: string | null;
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
  /** What a failure means for the next try. Default: {@linkcode judgeFailure}. */
  readonly judge?: (error: unknown) => Judgement;
  /** For the log. */
  readonly requestId?: string;
}

/** A call that costs money. */
export interface PaidCall<T> extends Pick<Attempts<T>, "candidates" | "judge"> {
  readonly facts: CallFacts;
  /** What the call may consume at most, as far as can be told; it is reserved at the model's tariff. */
  readonly estimate: Quantities;
  /** Does what comes once behind the admission, and gives the tries. They charge by the settlement. */
  readonly begin: (settlement: Settlement) => Attempt<T> | Promise<Attempt<T>>;
}

/**
 * The providers to try for one call of a model. Source: SPEC "Provider routing (cross-cutting)".
 *
 * @throws {GatewayError} As {@linkcode resolvePin}.
 */
export function routeOf(model: Model, pins: Pins, { providers, breaker, random }: RouteParts): CallRoute {
  const pin = resolvePin(pins.header, pins.body, model.id, model.serves, (name) => providers.has(name));
  return { pin, candidates: candidatesFor(model.serves, pin, (name) => breaker.isResting(name), random) };
}

/**
 * Carries out one paid call: reserves its estimate, tries its candidates, ends the reservation when none has answered.
 *
 * @returns What the attempt gave that succeeded. That attempt charges, at once or when its stream ends.
 * @throws {GatewayError} `insufficient_credits`; else the failure of the candidates.
 */
export async function runPaidCall<T>(call: PaidCall<T>, parts: CallParts): Promise<T> {
  const settlement = await admit(call, parts);
  try {
    const attempt = await call.begin(settlement);
    const { candidates, judge, facts: { requestId } } = call;
    return await tryCandidates({ candidates, attempt, judge, requestId }, parts);
  } catch (error) {
    settlement.release();
    throw errorForCaller(error);
  }
}

/**
 * Tries candidates one after the other, each once, until one answers, and logs those that were passed over. For calls
 * that cost nothing; {@linkcode runPaidCall} does this for the others.
 *
 * @throws {unknown} What the attempt that tells most threw, as it was thrown.
 */
export async function tryCandidates<T>(
  { candidates, attempt, judge = judgeFailure, requestId }: Attempts<T>,
  { breaker, log }: Pick<CallParts, "breaker" | "log">,
): Promise<T> {
  return await tryInTurn(
    candidates,
    breaker,
    attempt,
    judge,
    (candidate, error) => logFallback(log, candidate, error, requestId),
  );
}

async function admit<T>({ facts, estimate }: PaidCall<T>, parts: CallParts): Promise<Settlement> {
  const admitted = parts.meter.admit(facts.accountId, costOf(estimate, facts.model.tariff));
  const admission = admitted instanceof Promise ? await admitted : admitted;
  return new Settlement(facts, admission, parts);
}
