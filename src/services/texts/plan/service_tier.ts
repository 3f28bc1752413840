import type { Model } from "../../../vendors/catalog/model.ts";
import { pricedTiers } from "../../../vendors/catalog/prices/price_list.ts";
import { isDefaultTier, readTier } from "../../../conversation/neutral/usage.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
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
      endpointsAt(each, null).every(({ format }) => format.supportsTier(tier)))
  );
}

/**
 * Returns the tiers at which a request may be served, null for the default one: the requested tier, or the default tier
 * if none is requested. A vendor that does not support the tier serves at the default one, so both are possible then.
 *
 * @param isTaken Whether the providers that may serve the request support a tier.
 * @throws {GatewayError} `invalid_request` that names the field, for a tier without a price on the model.
 */
export function reachableTiers(
  { body, format }: Pick<TextRequest, "body" | "format">,
  model: Model,
  isTaken: (tier: string) => boolean,
): readonly (string | null)[] {
  let tiers: readonly (string | null)[] = DEFAULT;
  for (const field of format.tierFields) {
    const value = body[field];
    if (value === undefined || value === null) continue;
    const tier = readTier(value);
    if (tier !== null && isDefaultTier(tier)) continue;
    if (tier === null || !pricedTiers(model.prices).includes(tier)) throw unpriced(field, value, model);
    tiers = isTaken(tier) ? [tier] : [tier, null];
  }
  return tiers;
}

const DEFAULT = [null];

function unpriced(field: string, value: unknown, model: Model): Error {
  const known = pricedTiers(model.prices).map((tier) => `"${tier}"`);
  const usual = field === "speed" ? '"standard"' : '"auto" or "default"';
  const expected = [usual, ...known].join(", ");
  const shown = typeof value === "string" ? `"${value.replace(/[^\x21-\x7e]/g, "?").slice(0, 32)}"` : typeof value;
  return invalidField(field, `"${model.id}" has no price for this service tier: expected ${expected}, got ${shown}`);
}
