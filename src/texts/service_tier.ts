import { highestTariff, type Tariff } from "../billing/tariff.ts";
import type { Model } from "../catalog/model.ts";
import { isDefaultTier, readTier } from "../conversation/usage.ts";
import { invalidField } from "../lib/gateway_error.ts";
import { ownValue } from "../lib/own_value.ts";
import type { TextRequest } from "./attempt.ts";
import { passThroughEndpointOf } from "./pass_through_endpoint.ts";
import { endpointsAt, type ServedAt } from "./served_endpoints.ts";

/**
 * Whether every provider that may serve a request supports a tier, in the terms of the caller's format: providers that
 * receive the original bytes, and those whose formats have a term for the tier.
 */
export function isTierSupported(tier: string, served: readonly ServedAt[], request: TextRequest): boolean {
  return served.every((each) =>
    passThroughEndpointOf(request, each) !== null ||
    // Vendors that imitate another vendor's format may not support its tiers.
    (!each.provider.quirks.has("no_service_tier") &&
      endpointsAt(each).every(({ format }) => format.supportsTier(tier)))
  );
}

/**
 * Returns the tariff of a request's reservation: that of the requested tier, or the default tariff if none is
 * requested. A vendor that does not support the tier serves at the default tariff. The higher of both is then reserved.
 *
 * @param isTaken Whether the providers that may serve the request support a tier.
 * @throws {GatewayError} `invalid_request` that names the field, for a tier without a price on the model.
 */
export function reservedTariff(
  { body, format }: Pick<TextRequest, "body" | "format">,
  model: Model,
  isTaken: (tier: string) => boolean,
): Tariff {
  let tariff = model.tariff;
  for (const field of format.tierFields) {
    const value = body[field];
    if (value === undefined || value === null) continue;
    const tier = readTier(value);
    if (tier !== null && isDefaultTier(tier)) continue;
    const own = tier === null ? undefined : ownValue(model.tiers, tier);
    if (tier === null || own === undefined) throw unpriced(field, value, model);
    tariff = isTaken(tier) ? own : highestTariff(own, model.tariff);
  }
  return tariff;
}

function unpriced(field: string, value: unknown, model: Model): Error {
  const known = Object.keys(model.tiers).map((tier) => `"${tier}"`);
  const usual = field === "speed" ? '"standard"' : '"auto" or "default"';
  const expected = [usual, ...known].join(", ");
  const shown = typeof value === "string" ? `"${value.replace(/[^\x21-\x7e]/g, "?").slice(0, 32)}"` : typeof value;
  return invalidField(field, `"${model.id}" has no price for this service tier: expected ${expected}, got ${shown}`);
}
