import type { PriceName } from "../../../money/billing/prices/tariff.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import { MODELS_DEV_FAMILIES } from "../families.ts";
import type { PriceProblems } from "../price_problems.ts";
import type { ListedPrice } from "../listed_price.ts";
import { mapIn, numberIn, type SourceMap, textIn, textsIn } from "../source_values.ts";

/** Prices of a million tokens, with ours of one. Source: models.dev, `packages/core/src/schema.ts`, `Cost`. */
const PRICES: Readonly<Record<string, PriceName>> = {
  input: "prompt",
  output: "completion",
  cache_read: "input_cache_read",
  cache_write: "input_cache_write_5m",
  input_audio: "audio",
  output_audio: "audio_output",
};

/** The prompt above which `context_over_200k` applies. */
const BAND_TOKENS = 200_000;
const MODALITIES: Readonly<Record<string, string>> = { text: "text", image: "image", pdf: "file", audio: "audio" };

/** Whether a value is a map of vendors as models.dev has it. */
export function isModelsDev(source: unknown): source is SourceMap {
  return Object.values(mapIn(source)).some((vendor) =>
    Object.values(mapIn(mapIn(vendor).models)).some((model) => "limit" in mapIn(model))
  );
}

/** Reads `api.json` of models.dev: vendors, with their models by name. */
export function readModelsDev(
  source: SourceMap,
  families: ReadonlySet<string>,
  problems: PriceProblems,
): readonly ListedPrice[] {
  return Object.entries(source).flatMap(([vendor, value]) => {
    const family = ownValue(MODELS_DEV_FAMILIES, vendor);
    if (family === undefined || !families.has(family)) return [];
    return Object.entries(mapIn(mapIn(value).models)).flatMap(([name, model]) => {
      const read = readModel(`${vendor}/${name}`, mapIn(model), problems);
      return read === null ? [] : [{ family, name, place: `${vendor}/${name}`, sourced: read }];
    });
  });
}

/** Null without a price, or if it answers in something other than text. */
function readModel(place: string, model: SourceMap, problems: PriceProblems): ListedPrice["sourced"] | null {
  const outputs = textsIn(mapIn(model.modalities).output);
  if (model.cost === undefined || !outputs.includes("text")) return null;
  const { context_over_200k: above, ...cost } = mapIn(model.cost);
  const pricing = pricesOf(`${place}: cost`, cost, problems);
  if (pricing.prompt === undefined && pricing.completion === undefined) return null;
  const band = above === undefined ? {} : pricesOf(`${place}: cost.context_over_200k`, mapIn(above), problems);
  const overrides = Object.keys(band).length > 0 ? [{ min_prompt_tokens: BAND_TOKENS, ...band }] : [];
  return { pricing: { ...pricing, ...overrides.length > 0 && { overrides } }, fields: fieldsOf(model) };
}

function pricesOf(place: string, cost: SourceMap, problems: PriceProblems): Record<string, string> {
  const prices: Record<string, string> = {};
  for (const [field, value] of Object.entries(cost)) {
    const name = ownValue(PRICES, field);
    if (name === undefined) continue;
    const perToken = typeof value === "number" ? value / 1_000_000 : value;
    const isNumber = typeof perToken === "number";
    const price = isNumber ? problems.price(`${place}.${field}`, name, perToken) : null;
    if (!isNumber) problems.add(`${place}.${field}`, "a price of a million tokens in USD", value);
    if (price !== null) prices[name] = price;
  }
  return prices;
}

function fieldsOf(model: SourceMap): Record<string, unknown> {
  const limit = mapIn(model.limit);
  const [context, output] = [numberIn(limit.context), numberIn(limit.output)];
  const inputs = textsIn(mapIn(model.modalities).input).flatMap((each) => ownValue(MODALITIES, each) ?? []);
  const name = textIn(model.name);
  return {
    ...name !== null && { name: name.slice(0, 200) },
    ...context !== null && context > 0 && { context_length: context },
    ...output !== null && output > 0 && { top_provider: { max_completion_tokens: output } },
    ...inputs.length > 0 && { architecture: { input_modalities: inputs, output_modalities: ["text"] } },
  };
}
