import { highestReservation } from "../../money/billing/meter/highest_reservation.ts";
import { fixedReservation, type ReservationRule } from "../../money/billing/meter/meter.ts";
import { costOf } from "../../money/billing/prices/tariff.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import { BATCH_TIER } from "../../vendors/catalog/prices/price_conditions.ts";
import { pricesIn } from "../../vendors/catalog/prices/price_list.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import type { Candidate } from "../../vendors/routing/candidates.ts";
import type { Provider } from "../../vendors/upstreams/contract/provider.ts";
import { type CallOption, type CallOptions, joinOptions, makeOptions } from "./options.ts";
import { type CallParts, routeOf } from "./paid_call.ts";
import type { WholeBound, WholeCall, WholeCaller } from "./whole_call.ts";

/** A model that may serve a call. */
export interface WholeOption extends CallOption {
  readonly model: Model;
  readonly bound: WholeBound;
  /** The cost of the bound. */
  readonly amount: Money;
}

/** Who may serve a call, and what is reserved for it. */
export interface WholeRoute<U> extends CallOptions<WholeOption> {
  readonly reserve: ReservationRule;
  /** By the provider's id. */
  readonly upstreams: ReadonlyMap<string, U>;
}

/**
 * Routes a call.
 *
 * @throws {GatewayError} As `routeOf`; `route_error` if no provider of the model has the capability; what `mistakeAt`
 * returns.
 */
export async function routeWholeCall<U, T>(
  call: WholeCall<U, T>,
  caller: WholeCaller,
  parts: CallParts,
): Promise<WholeRoute<U>> {
  caller.record.model = call.modelName;
  const upstreams = await loadCapability(call, parts.providers);
  // A line of a batch has no fallbacks.
  const models = parts.batch === undefined ? call.models : call.models.slice(0, 1);
  const made = await makeOptions(models, (model) => optionFor(model, { call, caller, parts, upstreams }));
  const joined = joinOptions(made, { breaker: parts.breaker, accountId: caller.accountId });
  const reserve = highestReservation(
    joined.options.map(({ amount, bound }) => fixedReservation(amount, bound.tokens)),
  );
  return { ...joined, reserve, upstreams };
}

/** The capability of all providers of the models, by the provider's id. */
async function loadCapability<U, T>(
  { models, load }: WholeCall<U, T>,
  providers: ReadonlyMap<string, Provider>,
): Promise<ReadonlyMap<string, U>> {
  const loaded = new Map<string, U>();
  for (const { serves } of models) {
    for (const { provider: name, credentials = [] } of serves) {
      for (const id of [name, ...credentials.map(({ provider }) => provider)]) {
        const provider = loaded.has(id) ? undefined : providers.get(id);
        const capability = provider && await load(provider);
        if (capability !== undefined) loaded.set(id, capability);
      }
    }
  }
  return loaded;
}

interface OptionParts<U, T> {
  readonly call: WholeCall<U, T>;
  readonly caller: WholeCaller;
  readonly parts: CallParts;
  readonly upstreams: ReadonlyMap<string, U>;
}

function optionFor<U, T>(model: Model, { call, caller, parts, upstreams }: OptionParts<U, T>): WholeOption {
  const { accountId, headerPin, record } = caller;
  const { bodyPin, mistakeAt = () => null } = call;
  let mistake: GatewayError | null = null;
  const isAble = ({ provider }: Candidate) => {
    const upstream = upstreams.get(provider);
    if (upstream === undefined) return false;
    const found = mistakeAt(upstream);
    mistake ??= found;
    return found === null;
  };
  const { batch } = parts;
  const candidates = batch?.fixed
    ? [batch.fixed]
    : routeOf(model, { accountId, headerPin, bodyPin, isAble, record }, parts).candidates;
  if (candidates.length > 0) {
    const bound = call.boundOf(model);
    const to = batch === undefined ? { model, candidates } : batchedAt(model, batch.pick(model, candidates), caller);
    return { ...to, bound, amount: costOf(bound.quantities, to.model.tariff) };
  }
  throw mistake ??
    new GatewayError("route_error", `Cannot route: no provider of "${model.id}" ${call.capability}`, { isFinal: true });
}

/** A model with the prices of batches, at the provider that has the batch. */
function batchedAt(
  model: Model,
  to: Candidate,
  { receivedAt: at }: WholeCaller,
): Pick<WholeOption, "model" | "candidates"> {
  const { tariff } = pricesIn(model.prices, { at, promptTokens: 0, serviceTier: BATCH_TIER, region: null });
  return { model: { ...model, tariff }, candidates: [to] };
}
