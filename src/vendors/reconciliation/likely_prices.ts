import { type Money, writeRate } from "../../platform/lib/basics/money.ts";
import type { ComparedRow } from "./compare.ts";
import type { OwnDimensions } from "./own_dimensions.ts";
import type { Reason } from "./reason.ts";

/** A row with our charges by price key. */
interface RowWithOwn {
  readonly row: ComparedRow;
  readonly own: OwnDimensions;
}

const UNIT = 100_000_000n;
const THOUSANDTHS = 1_000;

/**
 * Finds wrong prices where the vendor's report has only the cost of each model: the price key for which one other price
 * would explain all days of a model. With a single day that is true of each key, so all are named.
 */
export function likelyPrices(rows: readonly RowWithOwn[]): ReadonlyMap<ComparedRow, readonly Reason[]> {
  const found = new Map<ComparedRow, readonly Reason[]>();
  const plain = rows.filter(({ row }) => hasEqualTokens(row));
  for (const days of Map.groupBy(plain, ({ row }) => row.name).values()) {
    const keys = [...new Set(days.flatMap(({ own }) => [...own.byKey.keys()]))];
    const reasons = keys.flatMap((key): [string, bigint][] => {
      const prices = days.map((each) => pricesFor(key, each));
      const [first] = prices;
      const isOne = prices.every((price) =>
        price !== null && first !== null && first !== undefined && meets(first, price)
      );
      return isOne && first !== null && first !== undefined ? [[key, (first.least + first.most) / 2n]] : [];
    });
    for (const { row, own } of days) found.set(row, reasons.map((each) => reasonOf(each, row, own)));
  }
  return found;
}

/** Whether only prices can differ, and the report does not say which. */
function hasEqualTokens({ vendor, own, difference: { cost, counts } }: ComparedRow): boolean {
  if (vendor === null || own.length === 0 || vendor.dimensions.size > 0 || cost === 0n) return false;
  return (counts.requests ?? 0) === 0 && (counts.inputTokens ?? 0) === 0 && (counts.outputTokens ?? 0) === 0;
}

interface PriceRange {
  readonly least: bigint;
  readonly most: bigint;
}

/** The prices of a key that explain the difference of a row, in 10^-18 USD, as both sides are rounded. */
function pricesFor(key: string, { row, own }: RowWithOwn): PriceRange | null {
  const charged = own.byKey.get(key);
  if (charged === undefined || charged.quantity <= 0) return null;
  const quantity = BigInt(Math.round(charged.quantity * THOUSANDTHS));
  const slack = BigInt(row.ours.counts.requests ?? 1) + 1n;
  const costAt = (difference: Money) => (charged.exact + difference * UNIT * BigInt(THOUSANDTHS)) / quantity;
  const [least, most] = [costAt(row.difference.cost - slack), costAt(row.difference.cost + slack)];
  return least < 0n ? null : { least, most };
}

function meets(one: PriceRange, other: PriceRange): boolean {
  return one.least <= other.most && other.least <= one.most;
}

function reasonOf([dimension, price]: [string, bigint], row: ComparedRow, own: OwnDimensions): Reason {
  const charged = own.byKey.get(dimension);
  const present = charged === undefined || charged.quantity === 0
    ? 0n
    : charged.exact / BigInt(Math.round(charged.quantity * THOUSANDTHS));
  const text = `${dimension}: a price of ${writeRate(roundedRate(price))} for a unit in the place of ${
    writeRate(present)
  } would explain it`;
  return { kind: "likely_price", text, dimension, amount: row.difference.cost, requests: [] };
}

/** Prices have few digits; the middle of a range has many. */
function roundedRate(rate: bigint): bigint {
  return (rate + UNIT / 2n) / UNIT * UNIT;
}
