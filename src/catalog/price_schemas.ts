import * as z from "zod";
import { type ChargeKind, isChargeable, PRICE_NAMES, type PriceName } from "../billing/tariff.ts";
import { readRate } from "../lib/money.ts";
import { isDate } from "../lib/settings.ts";
import { priceKey } from "./media_schemas.ts";
import type { SecondPrices } from "./media_sections.ts";
import type { PriceList, Pricing } from "./price_list.ts";

const PRICE_EXPECTATION = 'a decimal number of USD in quotes, such as "0.000005"';
const TIER = /^(?!(?:auto|default|standard|standard_only|on_demand)$)[a-z0-9][a-z0-9_-]{0,31}$/;
const TIER_EXPECTATION =
  'the name of a service tier such as priority or flex; "pricing" sets the price of the default tier';
const MOMENT_EXPECTATION = 'a date such as "2027-01-31", or a time in UTC such as "2027-01-31T08:00:00Z"';
const ORDER_EXPECTATION = "a later date than that of the entry before";

/** The schema of a decimal USD amount. */
export const price: z.ZodType<string> = z.string(PRICE_EXPECTATION).refine(isPrice, PRICE_EXPECTATION);

/** The schema of a moment: a date, which begins at midnight in UTC, or a time. Converted to Unix milliseconds. */
export const moment: z.ZodType<number> = z.string(MOMENT_EXPECTATION).refine(isDate, MOMENT_EXPECTATION)
  .transform((value) => Date.parse(value));

/** Prices as they are written: see {@linkcode writtenPricing}. */
export type WrittenPricing = Pricing & { readonly overrides: readonly WrittenOverride[] };

/** An entry of `overrides`: prices and the condition under which they apply. */
export type WrittenOverride = Pricing & {
  readonly from: number;
  readonly price_per_second: SecondPrices;
};

const prices = Object.fromEntries(PRICE_NAMES.map((key) => [key, price.optional()]));

const override = z.strictObject({
  from: moment,
  ...prices,
  price_per_second: z.record(priceKey, price).default({}),
});

/** The schema of `pricing`, and of each section of `pricing_tiers`. */
export const writtenPricing: z.ZodType<WrittenPricing> = z.strictObject({
  ...prices,
  overrides: z.array(override, "a list of prices with the date from which they apply")
    .superRefine(refuseUnordered).default([]),
});

/** The schema of `pricing_tiers`: prices by the lower-case name of a service tier. */
export const writtenTiers: z.ZodType<Record<string, WrittenPricing>> = z.record(
  z.string(TIER_EXPECTATION).regex(TIER, TIER_EXPECTATION),
  writtenPricing,
);

/** The price list of a written section. */
export function priceListOf({ overrides, ...pricing }: WrittenPricing): PriceList {
  return {
    pricing,
    changes: overrides.map(({ from, price_per_second: pricePerSecond, ...own }) => ({
      from,
      pricing: own,
      pricePerSecond,
    })),
  };
}

/** What {@linkcode refuseUnchargeable} reads of a model. */
export interface WrittenPrices {
  readonly pricing: WrittenPricing;
  readonly pricing_tiers: Readonly<Record<string, WrittenPricing>>;
}

/**
 * Refuses prices that no endpoint of a model charges, which would be published and never applied.
 *
 * @param kinds What the model's endpoints charge.
 */
export function refuseUnchargeable(
  { pricing, pricing_tiers }: WrittenPrices,
  kinds: readonly ChargeKind[],
  context: z.RefinementCtx,
): void {
  refuseUnused(pricing, { path: ["pricing"], kinds }, context);
  for (const [tier, prices] of Object.entries(pricing_tiers)) {
    const path = ["pricing_tiers", tier];
    // Only responses of the text endpoints state their service tier.
    if (kinds.includes("text")) refuseUnused(prices, { path, kinds: ["text"] }, context);
    else context.addIssue({ code: "custom", path, message: "no tiers, as only text endpoints have them" });
  }
}

interface Place {
  readonly path: readonly (string | number)[];
  readonly kinds: readonly ChargeKind[];
}

function refuseUnused({ overrides, ...pricing }: WrittenPricing, { path, kinds }: Place, context: z.RefinementCtx) {
  refuseUnusedNames(pricing, { path, kinds }, context);
  overrides.forEach(({ from: _, price_per_second: perSecond, ...own }, index) => {
    const at = [...path, "overrides", index];
    refuseUnusedNames(own, { path: at, kinds }, context);
    if (kinds.includes("video") || Object.keys(perSecond).length === 0) return;
    context.addIssue({
      code: "custom",
      path: [...at, "price_per_second"],
      message: "no price of seconds, as only videos have one",
    });
  });
}

function refuseUnusedNames(pricing: Pricing, { path, kinds }: Place, context: z.RefinementCtx): void {
  const isUsable = (word: PriceName) => isChargeable(word, kinds);
  for (const word of Object.keys(pricing) as PriceName[]) {
    if (pricing[word] === undefined || isUsable(word)) continue;
    const usable = PRICE_NAMES.filter(isUsable).join(", ");
    const expected = usable === "" ? "video.price_per_second in its place" : `one of ${usable}`;
    const message = `a price that this model's endpoints can charge (${expected})`;
    context.addIssue({ code: "custom", path: [...path, word], message });
  }
}

/** Entries out of order would let an older price win. */
function refuseUnordered(overrides: readonly { readonly from: number }[], context: z.RefinementCtx): void {
  overrides.forEach(({ from }, index) => {
    const before = overrides[index - 1];
    if (before === undefined || before.from < from) return;
    context.addIssue({ code: "custom", path: [index, "from"], message: ORDER_EXPECTATION });
  });
}

function isPrice(value: string): boolean {
  try {
    readRate(value);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
