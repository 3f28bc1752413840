import { type PriceName, readTariff, type Tariff } from "../billing/tariff.ts";
import type { SecondPrices } from "./media_sections.ts";

/** Prices in decimal USD as the operator wrote them, by what they apply to. Anything without a price is free. */
export type Pricing = Readonly<Partial<Record<PriceName, string>>>;

/** Prices that apply from a moment on. Keys that it lacks keep the price that they had. */
export interface PriceChange {
  /** Unix milliseconds. The prices apply to requests that began then or later. */
  readonly from: number;
  readonly pricing: Pricing;
  /** Of a second of video, as in `VideoSection.pricePerSecond`. Default: none. */
  readonly pricePerSecond: SecondPrices;
}

/** Prices, and how they change. */
export interface PriceList {
  readonly pricing: Pricing;
  /** By their moment, the first one first. */
  readonly changes: readonly PriceChange[];
}

/** A list as it is for a request that began at a moment in Unix milliseconds: later changes are still to come. */
export function priceListAt(list: PriceList, at: number): PriceList {
  const due = list.changes.filter(({ from }) => from <= at);
  if (due.length === 0) return list;
  return {
    pricing: Object.assign({}, list.pricing, ...due.map(({ pricing }) => pricing)),
    changes: list.changes.slice(due.length),
  };
}

/** The tariffs of service tiers. A tier takes the model's price where it has none of its own. */
export function tierTariffs(
  pricing: Pricing,
  tierPrices: Readonly<Record<string, PriceList>>,
): Readonly<Record<string, Tariff>> {
  const tariffs = Object.entries(tierPrices).map(([tier, own]) => [tier, readTariff({ ...pricing, ...own.pricing })]);
  return Object.fromEntries(tariffs);
}
