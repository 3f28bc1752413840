import { costOfAll, type PricedQuantities } from "../../../money/billing/prices/tariff.ts";
import { textQuantitiesOf } from "../../../money/billing/prices/text_quantities.ts";
import type { EndState } from "../../calls/settlement.ts";
import { unpricedKeysOf } from "../../calls/unpriced_usage.ts";
import type { Model } from "../../../vendors/catalog/model.ts";
import { BATCH_TIER } from "../../../vendors/catalog/prices/price_conditions.ts";
import { type AppliedPrices, isTierPriced, pricesIn } from "../../../vendors/catalog/prices/price_list.ts";
import { promptTokensOf, type Usage, withoutCache, withoutModels } from "../../../conversation/neutral/usage.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type { TextAttempt } from "../plan/attempt.ts";
import { inputImagesOf } from "./input_images.ts";
import { regionOf } from "../plan/price_reach.ts";

/** Charges a request for text by its usage, see `Settlement.charge`. A second call does nothing. */
export function chargeText(attempt: TextAttempt, reported: Usage, state: EndState): Promise<void> | void {
  const { settlement, provider, request } = attempt;
  const requested = withRequestedLifetime(reported, request.body);
  // Not all vendors name the tier in the replies of batches.
  const usage = attempt.isBatched === true ? { ...requested, serviceTier: BATCH_TIER } : requested;
  const { parts, reasons, unpriced } = partsOf(attempt, usage);
  const limit = attempt.answeredBy === undefined ? {} : limitOf(attempt, usage, parts);
  const cacheSaved = cacheSavedOf(attempt, usage, parts);
  return settlement.charge({ provider: provider.name, state, parts, usage, reasons, unpriced, cacheSaved, ...limit });
}

/**
 * What the vendor's cache saved: the cost without any cache, less the cost. Below zero for a request that wrote more
 * than it read; null if no cache was used.
 */
function cacheSavedOf(attempt: TextAttempt, usage: Usage, parts: readonly PricedQuantities[]): Money | null {
  const uncached = withoutCache(usage);
  if (uncached === usage) return null;
  const { otherModels = [] } = usage;
  const whole = otherModels.length === 0
    ? uncached
    : { ...uncached, otherModels: otherModels.map((each) => ({ ...each, usage: withoutCache(each.usage) })) };
  return costOfAll(partsOf(attempt, whole).parts) - costOfAll(parts);
}

/**
 * The first time that another model answers, its price applies up to the reservation, which did not cover it. Those of
 * later requests do.
 */
function limitOf(
  { answeredBy: other, ...attempt }: TextAttempt,
  usage: Usage,
  parts: readonly PricedQuantities[],
): { readonly maxAmount?: Money } {
  const { amount } = attempt.settlement.admission.reserved;
  const isCovered = attempt.others?.some(({ id }) => id === other?.id) === true;
  if (isCovered || costOfAll(parts) <= amount) return {};
  const own = costOfAll(partsOf(attempt, usage).parts);
  return { maxAmount: own > amount ? own : amount };
}

/** The cost of an attempt with some usage. */
export function costOfText(attempt: TextAttempt, usage: Usage): Money {
  return costOfAll(partsOf(attempt, usage).parts);
}

/** What is charged, and why at these prices. */
interface PricedParts {
  readonly parts: readonly PricedQuantities[];
  readonly reasons: readonly string[];
  /** The kinds of usage without a price. */
  readonly unpriced: readonly string[];
}

/**
 * The usage of other models at their prices and the rest at the model's own price, all by the tier and the region that
 * the reply names, and by the size of each prompt.
 */
function partsOf(attempt: TextAttempt, usage: Usage): PricedParts {
  const { request, answeredBy: model = attempt.model } = attempt;
  const own = withoutModels(usage);
  const prices = pricesOf(model, own, usage, attempt);
  const quantities = textQuantitiesOf(own, inputImagesOf(request, model));
  const { serviceTier } = usage;
  return {
    parts: [
      { quantities, tariff: prices.tariff },
      ...(usage.otherModels ?? []).map((other) => ({
        // Counts as one request, even if several models contribute.
        quantities: { ...textQuantitiesOf(other.usage), request: 0 },
        tariff: pricesOf(modelNamed(other.model, attempt), other.usage, usage, attempt).tariff,
      })),
    ],
    reasons: prices.reasons,
    unpriced: [
      ...unpricedKeysOf("text", quantities, prices.pricing),
      ...serviceTier === undefined || model.isFree || isTierPriced(model.prices, serviceTier) ? [] : ["service_tier"],
    ],
  };
}

/** The prices of one model's part of a reply. The tier and the region are those of the whole reply. */
function pricesOf({ id, prices }: Model, own: Usage, reply: Usage, attempt: TextAttempt): AppliedPrices {
  const { settlement, provider, request, candidate, begunAt, hops } = attempt;
  const promptTokens = hops === undefined ? promptTokensOf(own) : hops.promptTokensAt(attempt);
  const serviceTier = reply.serviceTier ?? null;
  if (serviceTier !== null && !isTierPriced(prices, serviceTier)) {
    const { parts: { log }, facts: { requestId } } = settlement;
    log.warn("tier_unpriced", { requestId, model: id, provider: provider.name, code: serviceTier });
  }
  const region = reply.region ?? regionOf(request.body, provider, candidate.model);
  return pricesIn(prices, { at: begunAt, promptTokens, serviceTier, region });
}

/**
 * The usage with the lifetime of its cache writes that the request chose, if the vendor counts them without one: chat
 * completions have one number for them.
 */
function withRequestedLifetime(usage: Usage, { prompt_cache_options: options }: JsonObject): Usage {
  const { cacheWrite5mTokens: written, cacheWrite30mTokens = 0, cacheWrite12hTokens = 0 } = usage;
  if (written === 0 || cacheWrite30mTokens + cacheWrite12hTokens > 0 || !isObject(options)) return usage;
  return options.ttl === "12h" ? { ...usage, cacheWrite12hTokens: written } : usage;
}

/** The catalog's model of that name at the attempt's provider, else the model of the request. */
function modelNamed(name: string, { catalog, candidate, model, provider, settlement }: TextAttempt): Model {
  if (name === candidate.model) return model;
  const other = catalog.servedAs(provider.name, name);
  if (other !== null) return other;
  const { parts: { log }, facts: { requestId } } = settlement;
  log.warn("model_unpriced", { requestId, model: model.id, provider: provider.name, code: name.slice(0, 128) });
  return model;
}
