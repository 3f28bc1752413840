import type { BuiltInFields } from "./built_in.ts";
import { PRICE_CONDITIONS } from "./prices/price_conditions.ts";

/** Prices as an operator writes them: by name, and `overrides`. */
export type WrittenPriceFields = Readonly<Record<string, unknown>>;

/** What a price source states about a model, as an operator would write it. */
export interface SourcedModel {
  /** The section `pricing`. */
  readonly pricing: WrittenPriceFields;
  /** The section `pricing_tiers`. Default: none. */
  readonly tiers?: Readonly<Record<string, WrittenPriceFields>>;
  /** The section `video.price_per_second`. Default: none. */
  readonly pricePerSecond?: Readonly<Record<string, string>>;
  /** Whether these are all prices of the model. Default: false; the built-in ones stay where the source has none. */
  readonly isWhole?: boolean;
  /** Fields of a model that is not built in: its context, its inputs. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The date after which the vendor may refuse it; absent if the source has none. */
  readonly expirationDate?: string;
}

/** The models of a price source by {@linkcode sourcedKey}. */
export type PriceBook = Readonly<Record<string, SourcedModel>>;

/** The key of a model: the first part of its vendor's built-in ids, and the vendor's name of it. */
export function sourcedKey(family: string, vendorName: string): string {
  return `${family}/${vendorName}`;
}

/** The fields of a built-in model with the prices of a source instead of its built-in ones. */
export function withSourced(known: BuiltInFields, sourced: SourcedModel): BuiltInFields {
  const { pricing, tiers, pricePerSecond, isWhole = false, expirationDate } = sourced;
  const own = mapOf(known.pricing);
  const video = pricePerSecond !== undefined && known.video !== undefined && {
    video: { ...mapOf(known.video), price_per_second: pricePerSecond },
  };
  const dated = expirationDate !== undefined && { expiration_date: expirationDate };
  if (isWhole) {
    const { pricing: _pricing, pricing_tiers: _tiers, ...others } = known;
    return { ...others, pricing, ...tiers && { pricing_tiers: tiers }, ...video, ...dated };
  }
  const priced = withLifetime(own, pricing);
  const stated = mergedOverrides(listOf(own.overrides), listOf(priced.overrides));
  return {
    ...known,
    pricing: { ...own, ...priced, ...stated.length > 0 && { overrides: stated } },
    ...tiers && { pricing_tiers: mergedTiers(known, tiers) },
    ...video,
    ...dated,
  };
}

/** The fields of a model that is not built in. */
export function fieldsOfSourced({ pricing, tiers, fields, expirationDate }: SourcedModel): BuiltInFields {
  return {
    ...fields,
    pricing,
    ...tiers && { pricing_tiers: tiers },
    ...expirationDate !== undefined && { expiration_date: expirationDate },
  };
}

/** Other programs have one price of cache writes. Where the vendor's caches live 30 minutes, it is that one. */
function withLifetime(own: WrittenPriceFields, stated: WrittenPriceFields): WrittenPriceFields {
  const { input_cache_write_5m: write, ...others } = stated;
  const isOther = write !== undefined && own.input_cache_write_5m === undefined &&
    own.input_cache_write_30m !== undefined;
  return isOther ? { ...others, input_cache_write_30m: write } : stated;
}

const CONDITIONS: ReadonlySet<string> = new Set(PRICE_CONDITIONS);

/**
 * The entries of `overrides` of a built-in model and of a source. Of two with the same conditions the source's prices
 * win. A built-in factor stays, since it multiplies the new price, too; the source's entry has no effect then.
 */
function mergedOverrides(own: readonly WrittenPriceFields[], stated: readonly WrittenPriceFields[]) {
  const merged = [...own];
  for (const entry of stated) {
    const key = conditionsOf(entry);
    const index = merged.findIndex((each) => conditionsOf(each) === key);
    if (index < 0) merged.push(entry);
    else if (merged[index]?.factor === undefined) merged[index] = { ...merged[index], ...entry };
  }
  return merged;
}

/** Tiers of a source, without those that the built-in prices state by a condition. */
function mergedTiers(known: BuiltInFields, tiers: NonNullable<SourcedModel["tiers"]>) {
  const stated = new Set(listOf(mapOf(known.pricing).overrides).map((entry) => entry.service_tier));
  const own = mapOf(known.pricing_tiers);
  const added = Object.entries(tiers).filter(([tier]) => !stated.has(tier));
  return { ...own, ...Object.fromEntries(added.map(([tier, prices]) => [tier, { ...mapOf(own[tier]), ...prices }])) };
}

/** The conditions of an entry as a text that is equal for equal ones. */
export function conditionsOf(entry: WrittenPriceFields): string {
  const stated = Object.entries(entry).filter(([name]) => CONDITIONS.has(name));
  return stated.map(([name, value]) => `${name} ${JSON.stringify(value)}`).sort().join(", ");
}

/** The prices of an entry without its conditions. */
export function pricesOfEntry(entry: WrittenPriceFields): WrittenPriceFields {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => !CONDITIONS.has(name)));
}

function mapOf(value: unknown): WrittenPriceFields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as WrittenPriceFields : {};
}

function listOf(value: unknown): readonly WrittenPriceFields[] {
  return Array.isArray(value) ? value.map(mapOf) : [];
}
