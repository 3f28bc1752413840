import { builtInFields } from "../vendors/catalog/built_in.ts";
import { readModel } from "../vendors/catalog/model.ts";
import { type ModelPrices, pricesIn } from "../vendors/catalog/prices/price_list.ts";
import { ownValue } from "../platform/lib/collections/own_value.ts";
import type { RatesOf } from "../sandbox/bills.ts";

/** Prices of models by the vendor's name, as an operator writes `pricing`. */
export type SandboxPrices = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * What simulated vendors bill: the built-in prices. Other models are free.
 *
 * @param others Prices of models that are not built in, and in the place of the built-in ones.
 */
export function builtInRates(others: SandboxPrices = {}): RatesOf {
  const known = new Map<string, ModelPrices>();
  const pricesOf = (vendor: string, model: string): ModelPrices => {
    const pricing = ownValue(others, model) ?? builtInFields(vendor, model)?.pricing ?? {};
    return readModel({ id: "sandbox/billed", serves: [{ provider: "sandbox" }], pricing }).prices;
  };
  return ({ vendor, model, at, promptTokens }) => {
    const key = `${vendor} ${model}`;
    const prices = known.get(key) ?? pricesOf(vendor, model);
    known.set(key, prices);
    const { tariff, reasons } = pricesIn(prices, { at, promptTokens, serviceTier: null, region: null });
    return { isLong: reasons.some((reason) => reason.startsWith("above")), rates: tariff };
  };
}
