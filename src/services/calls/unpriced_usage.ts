import {
  type ChargeKind,
  isKeyPriced,
  PRICE_KEYS,
  type PriceKey,
  type Quantities,
} from "../../money/billing/prices/tariff.ts";
import type { Pricing } from "../../vendors/catalog/prices/price_list.ts";

/** What vendors charge for beside its tokens only at some models: a model without such a price is complete. */
const OPTIONAL: ReadonlySet<PriceKey> = new Set<PriceKey>(["request", "per_image", "per_input_image"]);

/**
 * The keys of quantities that are above zero and have no price. Empty for a free model. Other work than text can be
 * counted in more than one way, of which one is priced: its keys have no price if nothing of it has one.
 */
export function unpricedKeysOf(kind: ChargeKind, quantities: Quantities, pricing: Pricing): readonly PriceKey[] {
  if (Object.keys(pricing).length === 0) return [];
  const used = PRICE_KEYS.filter((key) => (quantities[key] ?? 0) > 0);
  const missing = used.filter((key) => !OPTIONAL.has(key) && !isKeyPriced(key, pricing));
  return kind === "text" || used.every((key) => !isKeyPriced(key, pricing)) ? missing : [];
}
