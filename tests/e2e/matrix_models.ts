import { PRICING, textModel } from "../support/gateway.ts";
import { geminiIdOf, type VendorModel, VENDORS } from "./vendors.ts";

/** The matrix models in a gateway's configuration: with a price for searches, and under Gemini's names. */
export const MATRIX_MODELS: readonly object[] = VENDORS.flatMap((vendor) => [
  searching(vendor, vendor.model),
  {
    ...searching(vendor, geminiIdOf(vendor)),
    serves: [{ provider: `sandbox-${vendor.name}`, model: vendor.model }],
  },
]);

function searching({ name }: VendorModel, id: string) {
  return { ...textModel(id, [`sandbox-${name}`]), pricing: { ...PRICING, web_search: "0.01" } };
}
