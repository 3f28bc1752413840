import { isChargeable } from "../../../money/billing/prices/tariff.ts";
import { builtInFields } from "../../../vendors/catalog/built_in.ts";
import { ImportedConfig, type ImportResult, type Written } from "./imported_config.ts";
import { chargeKindsOf, type ModelUse } from "../../../vendors/prices/model_use.ts";
import { decimalOf } from "../../../vendors/prices/litellm_prices.ts";
import { OPENROUTER_PRICES } from "../../../vendors/prices/openrouter_prices.ts";
import { keyNameOf } from "../../../vendors/upstreams/vendor.ts";
import { VENDORS } from "../../../vendors/upstreams/vendors.ts";
import { listIn, mapIn, numberIn, type SourceMap, textIn, textsIn } from "../../../vendors/prices/source_values.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";

const MODALITIES = new Set(["text", "image", "file", "audio", "video"]);

/** Imports a list of models as `GET https://openrouter.ai/api/v1/models` returns it. */
export function importOpenrouterModels(source: unknown, name: string): ImportResult {
  const config = new ImportedConfig(() => null);
  const provider = config.provider("openrouter", {
    kind: "openrouter",
    api_key: config.variable(keyNameOf("openrouter", VENDORS.openrouter)),
  });
  const listed = Array.isArray(source) ? source : listIn(mapIn(source).data);
  for (const [index, value] of listed.entries()) {
    const entry = mapIn(value);
    const id = textIn(entry.id);
    if (id === null) config.drop(`data[${index}]`, "it has no id");
    else readModel(config, { id, provider, entry });
  }
  return config.finish(name);
}

function readModel(config: ImportedConfig, { id, provider, entry }: {
  readonly id: string;
  readonly provider: string;
  readonly entry: SourceMap;
}): void {
  const outputs = textsIn(mapIn(entry.architecture).output_modalities);
  const use = useOf(outputs);
  const builtIn = builtInFields("openrouter", id);
  if (use === null || (use === "video" && builtIn?.video === undefined)) {
    return config.drop(id, `its output, ${outputs.join(" and ")}, is not served at OpenRouter`);
  }
  const pricing = use === "video" ? {} : pricesOf(config, id, use, mapIn(entry.pricing));
  if (pricing === null) return config.drop(id, "its price is not fixed, or is not one that is charged here");
  const model = config.model(`${provider}/${id.replace(/^~/, "")}`, use);
  model.serves.push({ provider, model: id });
  model.isPriced = true;
  model.fields = {
    ...factsOf(config, entry, use),
    ...(use === "video" ? { video: builtIn?.video as Written } : { pricing }),
    ...((use === "embedding" || use === "rerank") && { [use]: {} }),
  };
}

/**
 * What a model is for; null if OpenRouter serves it in a format of its own, such as images, speech and transcriptions.
 * Source: OpenRouter documentation, "Models API", `output_modalities`.
 */
function useOf(outputs: readonly string[]): ModelUse | null {
  if (outputs.length === 0 || outputs.includes("text")) return "text";
  if (outputs.includes("embeddings")) return "embedding";
  if (outputs.includes("rerank")) return "rerank";
  return outputs.includes("video") ? "video" : null;
}

function factsOf(config: ImportedConfig, entry: SourceMap, use: ModelUse): Record<string, Written> {
  const architecture = mapIn(entry.architecture);
  const inputs = textsIn(architecture.input_modalities).filter((each) => MODALITIES.has(each));
  const outputs = textsIn(architecture.output_modalities).filter((each) => MODALITIES.has(each));
  const context = numberIn(entry.context_length);
  const maxOutput = numberIn(mapIn(entry.top_provider).max_completion_tokens);
  const parameters = [...new Set(textsIn(entry.supported_parameters))];
  const title = config.text((textIn(entry.name) ?? "").slice(0, 200));
  const created = numberIn(entry.created);
  return {
    ...(title !== "" && { name: title }),
    ...(created !== null && created > 0 && { created: Math.floor(created) }),
    ...(context !== null && context > 0 && { context_length: context }),
    ...(use === "text" && inputs.length > 0 && outputs.length > 0 && {
      architecture: { input_modalities: inputs, output_modalities: outputs },
    }),
    ...(use === "text" && maxOutput !== null && maxOutput > 0 && {
      top_provider: { max_completion_tokens: maxOutput },
    }),
    ...(parameters.length > 0 && { supported_parameters: parameters }),
  };
}

/**
 * The prices other than zero. Null if one depends on which model is chosen, which OpenRouter states as -1, and if none
 * of them can be charged, so that the model would be free.
 */
function pricesOf(
  config: ImportedConfig,
  id: string,
  use: ModelUse,
  prices: SourceMap,
): Record<string, Written> | null {
  const pricing: Record<string, Written> = {};
  const dropped: string[] = [];
  for (const [name, value] of Object.entries(prices)) {
    const amount = numberIn(value);
    if (listIn(value).length > 0) dropped.push(name);
    if (amount === null || amount === 0) continue;
    const [ours, decimal] = [ownValue(OPENROUTER_PRICES, name), decimalOf(amount)];
    if (decimal === null) return null;
    if (ours !== undefined && isChargeable(ours, chargeKindsOf(use, false))) pricing[ours] = decimal;
    else if (name !== "internal_reasoning" || amount !== numberIn(prices.completion)) dropped.push(name);
  }
  if (Object.keys(pricing).length === 0 && dropped.length > 0) return null;
  for (const name of dropped) config.drop(id, `the price ${name} has no counterpart`);
  return pricing;
}
