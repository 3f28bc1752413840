import type { Model, Serving } from "../catalog/model.ts";
import type { CandidateState, RequestRecord } from "../../platform/http/request/request_record.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";
import type { Availability, CircuitBreaker } from "./circuit_breaker.ts";
import { withoutHalted } from "./halted_providers.ts";
import { weightedOrder } from "./weights.ts";

/** A provider that can serve one request: its id, with the credential if it has several. */
export type Candidate = Serving;

/** The context of one routing decision. */
export interface RoutingContext {
  readonly breaker: Pick<CircuitBreaker, "availabilityOf">;
  /** The account that is charged. */
  readonly accountId: string;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/**
 * Returns the providers to try for one request, in order: the pinned one only, or all in weighted random order.
 * A provider's credentials follow each other in weighted random order. Providers and credentials with an open circuit
 * come last, misconfigured ones are left out. Source: docs/api/routing.md#choice.
 *
 * @param serving The providers that serve the model; at least one.
 * @param pin The name of one of them; null for none.
 * @throws {GatewayError} `upstream_auth_failed` if the vendors of all of them reject the gateway's credential;
 * {@linkcode HaltedProvidersError} if the operator has halted all of them.
 */
export function candidatesFor(
  serving: readonly Candidate[],
  pin: string | null,
  context: RoutingContext,
): readonly Candidate[] {
  const { random } = context;
  const chosen = pin === null ? serving : serving.filter(({ provider }) => provider === pin);
  const usable = usableCandidates(chosen, context, pin);
  const ordered = usable.length <= 1 ? usable : weightedOrder(usable, weightOf, random);
  const candidates = ordered.some(({ credentials }) => credentials !== undefined)
    ? usableCandidates(ordered.flatMap((candidate) => credentialsOf(candidate, random)), context)
    : ordered;
  // If all circuits are open, an attempt is better than a certain failure.
  return candidates.length <= 1 ? candidates : openCircuitsLast(candidates, context);
}

/** The credentials of a provider, in the order in which they are tried. */
function credentialsOf(candidate: Candidate, random: () => number): readonly Candidate[] {
  return candidate.credentials ? weightedOrder(candidate.credentials, weightOf, random) : [candidate];
}

const weightOf = ({ weight }: Candidate): number => weight;

/**
 * Orders the candidates of several models, model by model, with open circuits last. A model that currently fails is
 * thus skipped in favour of the next model.
 */
export function openCircuitsLast<C extends Candidate>(
  candidates: readonly C[],
  context: Pick<RoutingContext, "breaker" | "accountId">,
): readonly C[] {
  if (!candidates.some((each) => isAt(each, "resting", context))) return candidates;
  const isResting = new Set(candidates.filter((each) => isAt(each, "resting", context)));
  return [...candidates.filter((each) => !isResting.has(each)), ...isResting];
}

/**
 * Orders the candidates by weight without randomness, with open circuits last. Throws as, and leaves out what,
 * {@linkcode usableCandidates} does.
 */
export function byWeight(
  candidates: readonly Candidate[],
  context: Pick<RoutingContext, "breaker" | "accountId">,
  pin: string | null = null,
): readonly Candidate[] {
  return openCircuitsLast(usableCandidates(candidates, context, pin).toSorted((a, b) => b.weight - a.weight), context);
}

/**
 * Removes the candidates of misconfigured providers and of those that the operator has halted.
 *
 * @param pin The provider that the caller named, for the error. Default: none.
 * @throws {GatewayError} `upstream_auth_failed` or {@linkcode HaltedProvidersError} if none is left.
 */
export function usableCandidates(
  serving: readonly Candidate[],
  context: Pick<RoutingContext, "breaker" | "accountId">,
  pin: string | null = null,
): readonly Candidate[] {
  const candidates = withoutHalted(serving, pin);
  const isUsable = (each: Candidate) => !isAt(each, "misconfigured", context);
  const usable = candidates.every(isUsable) ? candidates : candidates.filter(isUsable);
  const [first] = candidates;
  if (usable.length > 0 || first === undefined) return usable;
  const provider = providerNameOf(first.provider);
  throw new GatewayError("upstream_auth_failed", `Provider "${provider}" rejected the gateway's credential`, {
    provider,
  });
}

/** Whether a provider has the availability, or all of its credentials have it. */
function isAt(
  candidate: Candidate,
  availability: Availability,
  { breaker, accountId }: Pick<RoutingContext, "breaker" | "accountId">,
): boolean {
  if (candidate.credentials === undefined) return breaker.availabilityOf(candidate, accountId) === availability;
  return candidate.credentials.every((each) => breaker.availabilityOf(each, accountId) === availability);
}

/** The choice of providers of one model. */
export interface RouteChoice {
  readonly model: Model;
  /** The provider that the caller named; null for none. */
  readonly pin: string | null;
  /** The providers that support the request. */
  readonly able: readonly Candidate[];
}

/**
 * Records which providers a model has, and why each can be tried or is passed over. A single provider that can be tried
 * is not recorded, since its attempt says as much.
 */
export function recordRoute(
  record: RequestRecord,
  { model, pin, able }: RouteChoice,
  context: Pick<RoutingContext, "breaker" | "accountId">,
): void {
  const { serves } = model;
  const stateOf = (each: Candidate) => stateOfCandidate(each, { pin, able }, context);
  const [only] = serves;
  if (serves.length === 1 && pin === null && only !== undefined && stateOf(only) === "ready") return;
  const candidates = serves.map((each) => ({
    provider: each.provider,
    weight: each.weight,
    state: stateOf(each),
    ...each.halt && { by: each.halt.by, since: each.halt.since === null ? null : secondsOf(each.halt.since) },
  }));
  record.routes = [...record.routes, { model: model.id, pin, candidates }];
}

/** Records that a candidate was preferred because its vendor may have the conversation in its cache. */
export function recordWarm(record: RequestRecord, model: string, { provider }: Candidate): void {
  const warm = providerNameOf(provider);
  record.routes = record.routes.map((route) => route.model === model ? { ...route, warm } : route);
}

function stateOfCandidate(
  candidate: Candidate,
  { pin, able }: Omit<RouteChoice, "model">,
  { breaker, accountId }: Pick<RoutingContext, "breaker" | "accountId">,
): CandidateState {
  if (candidate.halt !== undefined) return candidate.halt.state;
  if (!able.includes(candidate)) return "not_able";
  if (pin !== null && candidate.provider !== pin) return "not_pinned";
  const availability = breaker.availabilityOf(candidate, accountId);
  return availability === "resting" ? "circuit_open" : availability === "misconfigured" ? "misconfigured" : "ready";
}
