import { type Money, roundedMoney, writeRate } from "../../platform/lib/basics/money.ts";
import type { ComparedRow } from "./compare.ts";
import { type ExactUsd, moneyOf } from "./exact_usd.ts";
import type { OwnDimensions } from "./own_dimensions.ts";

/** What one side has for a price key. */
export interface DimensionSide {
  readonly cost: Money;
  /** Null if it is not known. */
  readonly quantity: number | null;
  /** The mean price of a unit in 10^-18 USD; null if it is not known. */
  readonly price: bigint | null;
}

/** A price key of both sides. */
export interface ExplainedDimension {
  readonly dimension: string;
  readonly theirs: DimensionSide;
  readonly ours: DimensionSide;
  /** Under which the vendor billed a part of it. */
  readonly conditions: readonly string[];
  readonly isPriceDifferent: boolean;
  readonly isQuantityDifferent: boolean;
}

/** Mean prices of sums that were rounded differ by less than this part. */
const PRICE_TOLERANCE = 100_000n;
const THOUSANDTHS = 1_000;
const NOTHING: DimensionSide = { cost: 0n, quantity: 0, price: null };

/** All price keys of a row, of both sides; none if the vendor's report does not split the cost. */
export function explainedDimensions({ vendor, own }: ComparedRow, { byKey }: OwnDimensions): ExplainedDimension[] {
  if (vendor === null || vendor.dimensions.size === 0) return [];
  const billed = Map.groupBy(vendor.dimensions.values(), ({ dimension }) => dimension);
  const keys = new Set([...billed.keys(), ...own.length === 0 ? [] : byKey.keys()]);
  return [...keys].map((dimension): ExplainedDimension => {
    const items = billed.get(dimension) ?? [];
    const stated = items.every(({ quantity }) => quantity !== null)
      ? items.reduce((sum, { quantity }) => sum + (quantity ?? 0), 0)
      : vendor.quantities.get(dimension) ?? null;
    const amount = items.reduce((sum, item) => sum + item.amount, 0n);
    const theirs = items.length === 0
      ? { ...NOTHING, quantity: vendor.quantities.get(dimension) ?? 0 }
      : sideOf(amount, stated);
    const charged = byKey.get(dimension);
    const ours = charged === undefined
      ? NOTHING
      : { ...sideOf(charged.exact / BigInt(THOUSANDTHS), charged.quantity), cost: roundedMoney(charged.exact) };
    return {
      dimension,
      theirs,
      ours,
      conditions: [...new Set(items.flatMap(({ condition }) => condition === null ? [] : [condition]))],
      isPriceDifferent: arePricesDifferent(theirs.price, ours.price),
      isQuantityDifferent: theirs.quantity !== null && theirs.quantity !== ours.quantity,
    };
  });
}

/** A price for people. */
export function priceText({ price }: DimensionSide): string {
  return price === null ? "an unknown price" : writeRate(price < 0n ? 0n : price);
}

function sideOf(amount: ExactUsd, quantity: number | null): DimensionSide {
  return { cost: moneyOf(amount), quantity, price: meanPrice(amount, quantity) };
}

function meanPrice(amount: ExactUsd, quantity: number | null): bigint | null {
  if (quantity === null || quantity <= 0) return null;
  return amount * BigInt(THOUSANDTHS) / BigInt(Math.round(quantity * THOUSANDTHS));
}

function arePricesDifferent(one: bigint | null, other: bigint | null): boolean {
  if (one === null || other === null) return false;
  const difference = one > other ? one - other : other - one;
  return difference * PRICE_TOLERANCE > (one > other ? one : other);
}
