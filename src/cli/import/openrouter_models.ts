import { ImportedConfig, type ImportResult, type Written } from "./imported_config.ts";
import { decimalOf } from "./prices.ts";
import { listIn, mapIn, numberIn, type SourceMap, textIn, textsIn } from "./source.ts";

/** The prices of OpenRouter, with ours. Source: OpenRouter API reference, "List available models". */
const PRICES: Readonly<Record<string, string>> = {
  prompt: "prompt",
  completion: "completion",
  request: "request",
  image: "per_input_image",
  audio: "audio",
  input_cache_read: "input_cache_read",
  input_cache_write: "input_cache_write_5m",
  web_search: "web_search",
};

const MODALITIES = new Set(["text", "image", "file", "audio", "video"]);

/** Imports a list of models as `GET https://openrouter.ai/api/v1/models` returns it. */
export function importOpenrouterModels(source: unknown, name: string): ImportResult {
  const config = new ImportedConfig(() => null);
  const provider = config.provider("openrouter", {
    kind: "openrouter",
    api_key: config.variable("OPENROUTER_API_KEY"),
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
  const architecture = mapIn(entry.architecture);
  const inputs = textsIn(architecture.input_modalities).filter((each) => MODALITIES.has(each));
  const outputs = textsIn(architecture.output_modalities).filter((each) => MODALITIES.has(each));
  if (outputs.length > 0 && !outputs.includes("text")) return config.drop(id, "its output is not text");
  const pricing = pricesOf(config, id, mapIn(entry.pricing));
  if (pricing === null) return config.drop(id, "its price is not fixed");
  const model = config.model(`${provider}/${id.replace(/^~/, "")}`);
  model.serves.push({ provider, model: id });
  const context = numberIn(entry.context_length);
  const top = mapIn(entry.top_provider);
  const maxOutput = numberIn(top.max_completion_tokens);
  const parameters = [...new Set(textsIn(entry.supported_parameters))];
  const title = config.text(textIn(entry.name) ?? "").slice(0, 200);
  const created = numberIn(entry.created);
  model.fields = {
    ...(title !== "" && { name: title }),
    ...(created !== null && created > 0 && { created: Math.floor(created) }),
    ...(context !== null && context > 0 && { context_length: context }),
    ...(inputs.length > 0 && outputs.length > 0 && {
      architecture: { input_modalities: inputs, output_modalities: outputs },
    }),
    pricing,
    ...(maxOutput !== null && maxOutput > 0 && { top_provider: { max_completion_tokens: maxOutput } }),
    ...(parameters.length > 0 && { supported_parameters: parameters }),
  };
}

/** Null if the price depends on which model is chosen, which OpenRouter states as -1. */
function pricesOf(config: ImportedConfig, id: string, prices: SourceMap): Record<string, Written> | null {
  const pricing: Record<string, Written> = {};
  for (const [name, value] of Object.entries(prices)) {
    const amount = numberIn(value);
    if (amount === null || amount === 0) continue;
    const [ours, decimal] = [PRICES[name], decimalOf(amount)];
    if (decimal === null) return null;
    if (ours !== undefined) pricing[ours] = decimal;
    else if (name !== "internal_reasoning" || amount !== numberIn(prices.completion)) {
      config.drop(id, `the price ${name} has no counterpart`);
    }
  }
  return pricing;
}
