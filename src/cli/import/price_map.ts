import { ImportedConfig, type ImportResult } from "./imported_config.ts";
import { readPrices } from "./prices.ts";
import { mapIn, numberIn, type SourceMap, textIn } from "./source.ts";
import { vendorNamed } from "./vendors.ts";

/** The entry that documents the others. */
const SAMPLE = "sample_spec";
const TEXT_MODES = new Set(["chat", "responses"]);

/** The words for `supported_parameters`, by the fields that say so. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  supports_function_calling: ["tools", "tool_choice"],
  supports_reasoning: ["reasoning"],
  supports_response_schema: ["response_format", "structured_outputs"],
};

/**
 * Imports a price map in the format of LiteLLM's `model_prices_and_context_window.json`: a model with prices for every
 * text model of the vendors that this gateway has.
 *
 * @param only The providers to import, by their names in ids; null for all.
 */
export function importPriceMap(source: unknown, name: string, only: ReadonlySet<string> | null): ImportResult {
  const config = new ImportedConfig(() => null);
  const skipped = new Map<string, number>();
  for (const [key, value] of Object.entries(mapIn(source))) {
    if (key === SAMPLE) continue;
    const why = readEntry(config, key, mapIn(value), only);
    if (why !== null) skipped.set(why, (skipped.get(why) ?? 0) + 1);
  }
  for (const [why, count] of skipped) config.drop(`${count} entries`, why);
  return config.finish(name);
}

/** Adds an entry. Returns why it is left out, or null. */
function readEntry(
  config: ImportedConfig,
  key: string,
  entry: SourceMap,
  only: ReadonlySet<string> | null,
): string | null {
  const vendorName = textIn(entry.litellm_provider) ?? "";
  const vendor = vendorNamed(vendorName);
  if (vendor === null || vendor.needsAddress) return "the vendor is not one that is imported";
  const provider = vendor.family ?? vendor.kind;
  if (only !== null && !only.has(provider)) return "the provider was not asked for";
  if (!TEXT_MODES.has(textIn(entry.mode) ?? "")) return "it is no model for text";
  const { pricing, tiers, dropped } = readPrices(entry);
  if (pricing === null) return "it has no price for tokens";
  const model = key.startsWith(`${vendorName}/`) ? key.slice(vendorName.length + 1) : key;
  if (model === "" || model.includes("*")) return "it stands for several models";
  const imported = config.model(`${provider}/${model}`);
  if (imported.serves.length > 0) return "another entry has the same name";
  const keyField = vendor.keyName === null ? {} : { api_key: config.variable(vendor.keyName) };
  imported.serves.push({ provider: config.provider(provider, { kind: vendor.kind, ...keyField }), model });
  const [context, output] = [numberIn(entry.max_input_tokens), numberIn(entry.max_output_tokens)];
  const parameters = Object.entries(PARAMETERS).flatMap(([field, words]) => entry[field] === true ? words : []);
  imported.fields = {
    ...(context !== null && context > 0 && { context_length: context }),
    ...(entry.supports_vision === true && {
      architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
    }),
    pricing,
    ...(Object.keys(tiers).length > 0 && { pricing_tiers: tiers }),
    ...(output !== null && output > 0 && { top_provider: { max_completion_tokens: output } }),
    ...(parameters.length > 0 && { supported_parameters: parameters }),
  };
  const kinds = dropped.map((field) => field.replace(/_above_.*/, "_above_…"));
  for (const field of new Set(kinds)) config.drop(`prices called ${field}`, "they have no counterpart");
  return null;
}
