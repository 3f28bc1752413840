import type { QuantitiesBy } from "../../money/billing/prices/tariff.ts";

const HOUR_MS = 3_600_000;

/**
 * The chargeable quantities of a cache creation. The price is that of vendor caches with a lifetime of an hour, since a
 * cache lives longer than five minutes.
 *
 * @param storedMs The time for which a vendor stores it; 0 if the gateway does.
 */
export function cacheQuantitiesOf(tokens: number, storedMs: number): QuantitiesBy<"cache"> {
  return { input_cache_write_1h: tokens, cache_storage_hour: storedHoursOf(tokens, storedMs) };
}

/** Tokens times hours, in thousandths. */
export function storedHoursOf(tokens: number, storedMs: number): number {
  return Math.round(tokens * Math.max(0, storedMs) / HOUR_MS * 1_000) / 1_000;
}
