import { isChargeable } from "../../../money/billing/prices/tariff.ts";
import { isDate } from "../../../platform/lib/text/iso_date.ts";
import { chargeKindsOf } from "../model_use.ts";
import { OPENROUTER_PRICES } from "../openrouter_prices.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import { OPENROUTER_FAMILIES } from "../families.ts";
import type { PriceProblems } from "../price_problems.ts";
import type { ListedPrice } from "../listed_price.ts";
import { listIn, mapIn, numberIn, type SourceMap, textIn, textsIn } from "../source_values.ts";

const OPENROUTER = "openrouter";
const MODALITIES = new Set(["text", "image", "file", "audio", "video"]);
/** Conditions that hold here in the same way. Source: OpenRouter API reference, `PricingOverride`. */
const CONDITIONS = ["min_prompt_tokens", "utc_start", "utc_end"] as const;
/** A price that depends on the model that is chosen. */
const NOT_FIXED = "-1";

/** Whether a value is a list of models as `GET https://openrouter.ai/api/v1/models` returns it. */
export function isOpenrouterList(source: unknown): source is SourceMap {
  return listIn(mapIn(source).data).some((entry) => "pricing" in mapIn(entry));
}

/** Reads the list of OpenRouter: the prices at OpenRouter, and those of the vendors themselves. */
export function readOpenrouterList(
  source: SourceMap,
  families: ReadonlySet<string>,
  problems: PriceProblems,
): readonly ListedPrice[] {
  return listIn(source.data).flatMap((value, index) => {
    const entry = mapIn(value);
    const id = textIn(entry.id);
    if (id === null) {
      problems.add(`data[${index}].id`, "a text", entry.id);
      return [];
    }
    const named = namesOf(id).filter(({ family }) => families.has(family));
    const sourced = named.length === 0 ? null : readModel(id, entry, problems);
    return sourced === null ? [] : named.map((each) => ({ ...each, place: id, sourced }));
  });
}

/** The vendors that serve a model, each with its name there. A variant such as `:free` is OpenRouter's own. */
function namesOf(id: string): { readonly family: string; readonly name: string }[] {
  const atOpenrouter = { family: OPENROUTER, name: id };
  const slash = id.indexOf("/");
  const family = ownFamily(id.slice(0, slash));
  const name = id.slice(slash + 1);
  if (family === null || name.includes(":")) return [atOpenrouter];
  // Anthropic has dashes in the place of dots.
  return [atOpenrouter, { family, name: family === "anthropic" ? name.replaceAll(".", "-") : name }];
}

function ownFamily(vendor: string): string | null {
  return ownValue(OPENROUTER_FAMILIES, vendor) ?? null;
}

/** Null for a model without a fixed price, or without text as an output. */
function readModel(id: string, entry: SourceMap, problems: PriceProblems): ListedPrice["sourced"] | null {
  const { overrides, ...prices } = mapIn(entry.pricing);
  const outputs = textsIn(mapIn(entry.architecture).output_modalities);
  if (outputs.length > 0 && !outputs.includes("text")) return null;
  if (Object.values(prices).some((price) => String(price) === NOT_FIXED)) return null;
  const pricing = pricesOf(`${id}: pricing`, prices, problems);
  if (pricing.prompt === undefined && pricing.completion === undefined) return null;
  const stated = listIn(overrides).flatMap((each, index) =>
    overrideOf(`${id}: pricing.overrides[${index}]`, mapIn(each), problems)
  );
  const date = textIn(entry.expiration_date)?.slice(0, 10) ?? null;
  return {
    pricing: { ...pricing, ...stated.length > 0 && { overrides: stated } },
    fields: fieldsOf(entry),
    ...date !== null && isDate(date) && { expirationDate: date },
  };
}

/** Zero is the default of what a model does not have, such as searches. */
function pricesOf(place: string, prices: SourceMap, problems: PriceProblems): Record<string, string> {
  const read: Record<string, string> = {};
  for (const [field, value] of Object.entries(prices)) {
    const name = ownValue(OPENROUTER_PRICES, field);
    if (name === undefined || !isChargeable(name, chargeKindsOf("text", true))) continue;
    const price = problems.price(`${place}.${field}`, name, value);
    if (price !== null && (Number(price) > 0 || name === "prompt" || name === "completion")) read[name] = price;
  }
  return read;
}

/** None for an entry with a condition that is not known, as its prices hold at other times than here. */
function overrideOf(place: string, entry: SourceMap, problems: PriceProblems): Record<string, unknown>[] {
  const isKnown = (name: string) =>
    CONDITIONS.some((each) => each === name) || Object.hasOwn(OPENROUTER_PRICES, name) || name === "internal_reasoning";
  if (!Object.keys(entry).every(isKnown)) return [];
  const conditions = CONDITIONS.flatMap((name) => entry[name] == null ? [] : [[name, entry[name]] as const]);
  const prices = Object.entries(entry).filter(([name, value]) =>
    value !== null && !CONDITIONS.some((each) => each === name)
  );
  const read = pricesOf(place, Object.fromEntries(prices), problems);
  return conditions.length === 0 || Object.keys(read).length === 0
    ? []
    : [{ ...Object.fromEntries(conditions), ...read }];
}

function fieldsOf(entry: SourceMap): Record<string, unknown> {
  const architecture = mapIn(entry.architecture);
  const inputs = textsIn(architecture.input_modalities).filter((each) => MODALITIES.has(each));
  const context = numberIn(entry.context_length);
  const output = numberIn(mapIn(entry.top_provider).max_completion_tokens);
  const [name, created] = [textIn(entry.name), numberIn(entry.created)];
  return {
    ...name !== null && { name: name.slice(0, 200) },
    ...created !== null && created > 0 && { created: Math.floor(created) },
    ...context !== null && context > 0 && { context_length: context },
    ...output !== null && output > 0 && { top_provider: { max_completion_tokens: output } },
    ...inputs.length > 0 && { architecture: { input_modalities: inputs, output_modalities: ["text"] } },
  };
}
