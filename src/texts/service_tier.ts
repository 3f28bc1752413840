import { highestTariff, type Tariff } from "../billing/tariff.ts";
import type { Model } from "../catalog/model.ts";
import { isDefaultTier, readTier } from "../conversation/usage.ts";
import { invalidField } from "../lib/gateway_error.ts";
import { ownValue } from "../lib/own_value.ts";
import type { Provider } from "../upstreams/provider.ts";
import type { TextRequest } from "./attempt.ts";
import { ownEndpointOf } from "./own_endpoint.ts";

/** Whether every provider that may serve a turn can be asked for a tier, in the word of the caller's format. */
export type TierTaken = (tier: string) => boolean;

/**
 * The same of some providers: those that get the bytes as they came, and those whose formats have a word for the tier.
 */
export function tierTakenBy(providers: readonly Provider[], turn: TextRequest): TierTaken {
  return (tier) =>
    providers.every((provider) =>
      ownEndpointOf(turn, provider) !== null ||
      // Vendors that only resemble a format's author may not know its tiers.
      (!provider.quirks.has("no_service_tier") && provider.text.every(({ format }) => format.supportsTier(tier)))
    );
}

/**
 * The tariff that a request is reserved by: that of the tier that it asks for, and the usual one's where it asks for
 * none. A vendor that cannot be asked for the tier serves at the usual one, so that the dearer of both is reserved
 * beside such a vendor.
 *
 * @param isTaken Of the providers that may serve the request.
 * @throws {GatewayError} `invalid_request` naming the field, for a tier without a price on the model.
 */
export function reservedTariff(
  { body, format }: Pick<TextRequest, "body" | "format">,
  model: Model,
  isTaken: TierTaken,
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
