import type { PricedQuantities, Tariff } from "../billing/tariff.ts";
import { textQuantitiesOf } from "../billing/text_quantities.ts";
import type { EndState } from "../calls/settlement.ts";
import type { Model } from "../catalog/model.ts";
import { type Usage, withoutModels } from "../conversation/usage.ts";
import { ownValue } from "../lib/own_value.ts";
import type { TextAttempt } from "./attempt.ts";
import { inputImagesOf } from "./input_images.ts";

/** Charges a request for text by its usage, see `Settlement.charge`. A second call does nothing. */
export function chargeText(attempt: TextAttempt, usage: Usage, state: EndState): Promise<void> | void {
  const { settlement, provider } = attempt;
  return settlement.charge({ provider: provider.name, state, parts: partsOf(attempt, usage), usage });
}

/**
 * The usage of other models at their prices and the rest at the model's own price, all by the tier that the reply
 * names.
 */
function partsOf(attempt: TextAttempt, usage: Usage): readonly PricedQuantities[] {
  const { request, model } = attempt;
  const own = { quantities: textQuantitiesOf(withoutModels(usage), inputImagesOf(request, model)) };
  return [
    { ...own, tariff: tariffOf(model, usage, attempt) },
    ...(usage.otherModels ?? []).map((other) => ({
      // Counts as one request, even if several models contribute.
      quantities: { ...textQuantitiesOf(other.usage), request: 0 },
      tariff: tariffOf(modelNamed(other.model, attempt), usage, attempt),
    })),
  ];
}

function tariffOf(model: Model, { serviceTier }: Usage, { settlement, provider }: TextAttempt): Tariff {
  if (serviceTier === undefined) return model.tariff;
  const tariff = ownValue(model.tiers, serviceTier);
  if (tariff !== undefined) return tariff;
  const { parts: { log }, facts: { requestId } } = settlement;
  log.warn("tier_unpriced", { requestId, model: model.id, provider: provider.name, code: serviceTier });
  return model.tariff;
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
