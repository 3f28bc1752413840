import {
  type ChargeKind,
  isKeyPriced,
  PRICE_KEYS,
  type PriceKey,
  type Quantities,
} from "../../money/billing/prices/tariff.ts";
import { hasMembers } from "../../conversation/neutral/wire_value.ts";
import type { Pricing } from "../../vendors/catalog/prices/price_list.ts";

/** What vendors charge for beside its tokens only at some models: a model without such a price is complete. */
const OPTIONAL: ReadonlySet<PriceKey> = new Set<PriceKey>(["request", "per_image", "per_input_image"]);

/**
 * The keys of quantities that are above zero and have no price. Empty for a free model. Other work than text can be
 * counted in more than one way, of which one is priced: its keys have no price if nothing of it has one.
 */
export function unpricedKeysOf(kind: ChargeKind, quantities: Quantities, pricing: Pricing): readonly PriceKey[] {
  if (!hasMembers(pricing)) return NONE;
  let missing: PriceKey[] | null = null;
  let isAnyPriced = false;
  // Every charge is checked, and almost none misses a price: the search makes no lists.
  for (const key of PRICE_KEYS) {
    if ((quantities[key] ?? 0) <= 0) continue;
    if (isKeyPriced(key, pricing)) isAnyPriced = true;
    else if (!OPTIONAL.has(key)) (missing ??= []).push(key);
  }
  return missing !== null && (kind === "text" || !isAnyPriced) ? missing : NONE;
}

const NONE: readonly PriceKey[] = [];
