import type { Tariff } from "../billing/tariff.ts";
import type { Model } from "../catalog/model.ts";
import { isUsualTier, readTier } from "../conversation/usage.ts";
import { invalidField } from "../lib/gateway_error.ts";
import type { TextTurn } from "./attempt.ts";

/**
 * The tariff of the tier that a request asks for; the usual one's where it asks for none.
 *
 * @throws {GatewayError} `invalid_request` naming the field, for a tier without a price on the model.
 */
export function requestedTariff({ body, format }: Pick<TextTurn, "body" | "format">, model: Model): Tariff {
  let tariff = model.tariff;
  for (const field of format.tierFields) {
    const value = body[field];
    if (value === undefined || value === null) continue;
    const tier = readTier(value);
    if (tier !== null && isUsualTier(tier)) continue;
    if (tier === null || !Object.hasOwn(model.tiers, tier)) throw unpriced(field, value, model);
    tariff = model.tiers[tier];
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
