import { ImportedConfig, type ImportResult, type Written } from "./imported_config.ts";
import { callingVendor, providerFields } from "./litellm_provider.ts";
import { modelFields, whyNotServed } from "./model_fields.ts";
import { type ModelUse, USE_WORDS, useOfMode } from "../../../vendors/prices/model_use.ts";
import { mapIn, numberIn, type SourceMap, textIn } from "../../../vendors/prices/source_values.ts";
import { type ImportedVendor, providerNameFor, vendorNamed } from "./vendors.ts";

/** The entry that documents the others. */
const SAMPLE = "sample_spec";

/** The words for `supported_parameters`, by the fields that say so. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  supports_function_calling: ["tools", "tool_choice"],
  supports_reasoning: ["reasoning"],
  supports_response_schema: ["response_format", "structured_outputs"],
};

/**
 * Imports a price map in the format of LiteLLM's `model_prices_and_context_window.json`: a model with prices for every
 * model that this gateway can serve.
 *
 * @param only The providers to import, by their names in ids; null for all.
 */
export function importPriceMap(source: unknown, name: string, only: ReadonlySet<string> | null): ImportResult {
  const config = new ImportedConfig(() => null);
  const skipped = new Map<string, number>();
  const vendors = new Map<string, number>();
  for (const [key, value] of Object.entries(mapIn(source))) {
    if (key === SAMPLE) continue;
    const entry = mapIn(value);
    const vendorName = textIn(entry.litellm_provider) ?? "none";
    const vendor = vendorNamed(vendorName);
    const isKnown = vendor !== null && !vendor.needsAddress;
    const why = isKnown ? readEntry(config, { key, entry, vendorName, known: vendor }, only) : null;
    if (why !== null) count(skipped, why);
    // With a list of providers, no one asked for the others.
    if (!isKnown && only === null) count(vendors, vendorName);
  }
  for (const [why, entries] of skipped) config.drop(entries === 1 ? "1 entry" : `${entries} entries`, why);
  if (vendors.size > 0) {
    const names = [...vendors].sort(([one], [other]) => one < other ? -1 : 1).map(([vendor, n]) => `${vendor} ${n}`);
    config.drop("entries of other vendors", names.join(", "));
  }
  return config.finish(name);
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

interface Entry {
  readonly key: string;
  readonly entry: SourceMap;
  readonly vendorName: string;
  readonly known: ImportedVendor;
}

/** Adds an entry. Returns why it is left out, or null. */
function readEntry(
  config: ImportedConfig,
  { key, entry, vendorName, known }: Entry,
  only: ReadonlySet<string> | null,
): string | null {
  const prefix = known.name;
  if (only !== null && !only.has(prefix)) return "the provider was not asked for";
  const model = modelIn(key, vendorName);
  if (!namesOneModel(model, prefix)) return "it stands for several models, or for one region, size or quality";
  const mode = textIn(entry.mode);
  const use = mode === null ? null : useOfMode(mode);
  if (use === null) return mode === null ? "it has no mode" : `mode ${mode} is not served`;
  const vendor = callingVendor(known, model);
  const why = whyNotServed({ vendor, model }, use);
  if (why !== null) return why;
  const { fields, droppedPrices } = modelFields({ vendor, model }, use, entry);
  const hasPrice = fields.pricing !== undefined || fields.video !== undefined;
  if (!hasPrice) return "it has no price that this gateway charges for";
  const imported = config.model(`${prefix}/${model}`, use);
  if (imported.serves.length > 0) return "another entry has the same name";
  const provider = providerFields(config, { vendor, use, params: {}, place: prefix });
  if (provider === null) return "its format is not served";
  imported.serves.push({ provider: config.provider(providerNameFor(vendor, use, prefix), provider), model });
  imported.isPriced = true;
  imported.fields = { ...textFacts(use, entry), ...fields };
  for (const field of new Set(droppedPrices.map((each) => each.replace(/_above_.*/, "_above_…")))) {
    config.drop(`prices called ${field}`, `they have no counterpart for ${USE_WORDS[use]}`);
  }
  return null;
}

/** The vendor's name of the model in a key, with or without that of the vendor in front. */
function modelIn(key: string, vendorName: string): string {
  const vendor = vendorName.replace(/-.+$/, "");
  const prefix = [`${vendor}/`, `${vendor.replace(/_(chat|converse)$/, "")}/`].find((each) => key.startsWith(each)) ??
    "";
  return key.slice(prefix.length);
}

/** Prices of one size of images, of regions, and of all models of some size. */
const PARTS = /\d-x-\d|^(low|medium|high|hd|standard)\/|^ft:|^(together|fireworks)-ai-/;

function namesOneModel(model: string, prefix: string): boolean {
  if (model === "" || model.includes("*") || PARTS.test(model)) return false;
  // The name of a deployment has no slash, and at Bedrock a region precedes one.
  return !(prefix.startsWith("azure") || prefix === "bedrock") || !model.includes("/");
}

/** What else the map says of a model. */
function textFacts(use: ModelUse, entry: SourceMap): Record<string, Written> {
  const [context, output] = [numberIn(entry.max_input_tokens), numberIn(entry.max_output_tokens)];
  const parameters = Object.entries(PARAMETERS).flatMap(([field, words]) => entry[field] === true ? words : []);
  return {
    ...(context !== null && context > 0 && { context_length: context }),
    ...((use === "text" || use === "speech") && output !== null && output > 0 && {
      top_provider: { max_completion_tokens: output },
    }),
    ...(use === "text" && {
      ...(entry.supports_vision === true && {
        architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
      }),
      ...(parameters.length > 0 && { supported_parameters: parameters }),
    }),
  };
}
