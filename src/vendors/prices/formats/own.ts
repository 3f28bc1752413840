import { PRICE_NAMES, type PriceName } from "../../../money/billing/prices/tariff.ts";
import type { SourcedModel, WrittenPriceFields } from "../../catalog/sourced_model.ts";
import { isDate } from "../../../platform/lib/text/iso_date.ts";
import type { PriceProblems } from "../price_problems.ts";
import type { ListedPrice } from "../listed_price.ts";
import { listIn, mapIn, type SourceMap, textIn } from "../source_values.ts";

/** Fields of an entry that say what the model is, for models that are not built in. */
const FIELDS = [
  "name",
  "description",
  "created",
  "context_length",
  "architecture",
  "top_provider",
  "supported_parameters",
  "embedding",
  "moderation",
  "rerank",
  "speech",
  "transcription",
] as const;
const SECOND = "per_second_";

/**
 * The entries of a list in our own format: those of `models` as in a configuration file, or the answer of
 * `GET /v1/models` of another gateway. Null if it is none.
 */
export function ownListIn(source: unknown): readonly unknown[] | null {
  if (Array.isArray(source)) return source;
  const { models, data } = mapIn(source);
  if (Array.isArray(models)) return models;
  return listIn(data).some((entry) => "owned_by" in mapIn(entry)) ? listIn(data) : null;
}

/** Reads our own format, whose prices replace the built-in ones as a whole. */
export function readOwnList(
  entries: readonly unknown[],
  families: ReadonlySet<string>,
  problems: PriceProblems,
): readonly ListedPrice[] {
  return entries.flatMap((value, index) => {
    const entry = mapIn(value);
    const id = textIn(entry.id);
    const slash = id?.indexOf("/") ?? -1;
    if (id === null || slash < 1) {
      problems.add(`[${index}].id`, '"<vendor>/<model>"', entry.id ?? null);
      return [];
    }
    const family = id.slice(0, slash);
    if (!families.has(family)) return [];
    const sourced = readEntry(id, entry, problems);
    const name = textIn(entry.vendor_name) ?? id.slice(slash + 1);
    return sourced === null ? [] : [{ family, name, place: id, sourced }];
  });
}

function readEntry(id: string, entry: SourceMap, problems: PriceProblems): SourcedModel | null {
  const { overrides, ...prices } = mapIn(entry.pricing);
  if (typeof entry.pricing !== "object" || entry.pricing === null) return null;
  const seconds: Record<string, string> = {};
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(prices)) {
    if (name.startsWith(SECOND)) seconds[name.slice(SECOND.length)] = String(value);
    else plain[name] = value;
  }
  const pricing = checked(`${id}: pricing`, plain, problems);
  const stated = [...listIn(overrides), ...listIn(entry.pricing_overrides)].map((each, index) =>
    checked(`${id}: pricing.overrides[${index}]`, mapIn(each), problems)
  );
  const tiers = Object.entries(mapIn(entry.pricing_tiers)).map(([tier, own]) =>
    [tier, checked(`${id}: pricing_tiers.${tier}`, mapIn(own), problems)] as const
  );
  const perSecond = { ...seconds, ...mapIn(mapIn(entry.video).price_per_second) as Record<string, string> };
  for (const [name, value] of Object.entries(perSecond)) problems.price(`${id}: ${SECOND}${name}`, null, value);
  const date = textIn(entry.expiration_date);
  return {
    pricing: { ...pricing, ...stated.length > 0 && { overrides: stated } },
    ...tiers.length > 0 && { tiers: Object.fromEntries(tiers) },
    ...Object.keys(perSecond).length > 0 && { pricePerSecond: perSecond },
    isWhole: true,
    fields: Object.fromEntries(FIELDS.filter((name) => entry[name] !== undefined).map((name) => [name, entry[name]])),
    ...date !== null && isDate(date) && { expirationDate: date },
  };
}

/** Prices with their conditions, the prices among them checked. */
function checked(place: string, prices: SourceMap, problems: PriceProblems): WrittenPriceFields {
  const read: Record<string, unknown> = { ...prices };
  for (const name of PRICE_NAMES as readonly PriceName[]) {
    if (prices[name] === undefined) continue;
    const price = problems.price(`${place}.${name}`, name, prices[name]);
    if (price !== null) read[name] = price;
  }
  return read;
}
