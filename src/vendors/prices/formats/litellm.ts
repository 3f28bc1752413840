import type { SourcedModel } from "../../catalog/sourced_model.ts";
import { isDate } from "../../../platform/lib/text/iso_date.ts";
import { LITELLM_PRICE, readPrices } from "../litellm_prices.ts";
import { chargeKindsOf, type ModelUse, useOfMode } from "../model_use.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import { LITELLM_FAMILIES } from "../families.ts";
import type { PriceProblems } from "../price_problems.ts";
import type { ListedPrice } from "../listed_price.ts";
import { mapIn, numberIn, type SourceMap, textIn } from "../source_values.ts";

/** Prices of one size of images, of regions, and of fine-tuned models. */
const PARTS = /\d-x-\d|^(low|medium|high|hd|standard)\/|^ft:/;

/** Whether a value is a map of models as LiteLLM has it. */
export function isLitellmMap(source: unknown): source is SourceMap {
  return Object.values(mapIn(source)).some((entry) => textIn(mapIn(entry).litellm_provider) !== null);
}

/** Reads `model_prices_and_context_window.json`. A name with its vendor in front precedes one without. */
export function readLitellmMap(
  source: SourceMap,
  families: ReadonlySet<string>,
  problems: PriceProblems,
): readonly ListedPrice[] {
  const byName = new Map<string, ListedPrice & { readonly isPrefixed: boolean }>();
  for (const [place, value] of Object.entries(source)) {
    const entry = mapIn(value);
    const vendor = textIn(entry.litellm_provider) ?? "";
    const family = ownValue(LITELLM_FAMILIES, vendor);
    const use = useOfMode(textIn(entry.mode) ?? "");
    if (family === undefined || !families.has(family) || use === null) continue;
    const isPrefixed = place.startsWith(`${vendor}/`);
    const name = isPrefixed ? place.slice(vendor.length + 1) : place;
    if (name === "" || name.includes("*") || PARTS.test(name)) continue;
    checkPrices(place, entry, problems);
    const sourced = sourcedOf(entry, use);
    const key = `${family} ${name}`;
    if (sourced !== null && (isPrefixed || byName.get(key)?.isPrefixed !== true)) {
      byName.set(key, { family, name, place, sourced, isPrefixed });
    }
  }
  return [...byName.values()];
}

function checkPrices(place: string, entry: SourceMap, problems: PriceProblems): void {
  for (const [field, value] of Object.entries(entry)) {
    if (!LITELLM_PRICE.test(field) || value === null || typeof value === "object") continue;
    problems.price(`${place}: ${field}`, /_token/.test(field) ? "prompt" : null, value);
  }
}

/** Null without a price that is charged here. */
function sourcedOf(entry: SourceMap, use: ModelUse): SourcedModel | null {
  const answersInText = use === "image" && numberIn(entry.output_cost_per_token) !== null;
  const { pricing, overrides, tiers } = readPrices(entry, { use, kinds: chargeKindsOf(use, answersInText) });
  const date = textIn(entry.deprecation_date);
  const dated = date !== null && isDate(date) && { expirationDate: date };
  if (pricing === null) return null;
  return {
    pricing: { ...pricing, ...overrides.length > 0 && { overrides } },
    ...Object.keys(tiers).length > 0 && { tiers },
    fields: fieldsOf(entry, use),
    ...dated,
  };
}

function fieldsOf(entry: SourceMap, use: ModelUse): Record<string, unknown> {
  const [context, output] = [numberIn(entry.max_input_tokens), numberIn(entry.max_output_tokens)];
  return {
    ...context !== null && context > 0 && { context_length: context },
    ...use === "text" && output !== null && output > 0 && { top_provider: { max_completion_tokens: output } },
    ...use === "text" && entry.supports_vision === true && {
      architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
    },
    ...use !== "text" && use !== "image" && use !== "video" && { [use]: {} },
  };
}
