import type { Usage } from "../conversation/usage.ts";
import type { Money } from "../lib/money.ts";
import type { Commit, StoredLedgerEntry } from "../store/store.ts";
import { joined } from "./records.ts";

/** What one request was charged, and for what. */
export interface ChargeRow {
  readonly requestId: string;
  /** Unix milliseconds: when the reply ended. */
  readonly at: number;
  readonly kind: ChargeKind;
  readonly model: string;
  /** The provider that served it. */
  readonly provider: string;
  /** Above zero. */
  readonly amount: Money;
  /** Counters that are zero may be missing. */
  readonly usage?: Partial<Usage>;
}

/** What a charge is for. */
export type ChargeKind = "text" | "image" | "video" | "cache";

/** Money taken at once, on one ledger line, for one or more requests of one account. */
export interface ChargeGroup {
  readonly account: string;
  /** Names the line for ever. */
  readonly reference: string;
  readonly rows: readonly ChargeRow[];
}

const MOST_ROWS = 200;
// A store takes values of 60 KB at most; the rest of the line and the engine's own words need some of that.
const MOST_BYTES = 48_000;
// Names of the fields, numbers and counters of one row as structured clone writes them, generously.
const ROW_BYTES = 320;
const MOST_TEXT = 200;

/**
 * The commit with a charge in it. It may take `available` below zero: what was consumed is owed.
 *
 * @throws {RangeError} If a row's amount is not above zero.
 */
export function addCharge(commit: Commit, { account, reference, rows }: ChargeGroup): Commit {
  const total = totalOf(rows);
  return joined(commit, {
    move: [{ account, available: -total, held: 0n, overdraw: true }],
    ledger: [{
      account,
      operation: "charge",
      reference,
      available: -total,
      held: 0n,
      detail: { rows: rows.map(compactRow) },
    }],
  });
}

/** What rows amount to. */
export function totalOf(rows: readonly ChargeRow[]): Money {
  let total = 0n;
  for (const { amount } of rows) {
    if (amount <= 0n) throw new RangeError(`Cannot charge an amount that is not above zero: got ${amount}`);
    total += amount;
  }
  return total;
}

/** How many of the first rows fit on one ledger line: at least one. */
export function fittingRows(rows: readonly ChargeRow[]): number {
  let bytes = 0;
  for (let count = 0; count < rows.length; count++) {
    bytes += ROW_BYTES + 2 * textLengthOf(rows[count]);
    if (count > 0 && (bytes > MOST_BYTES || count >= MOST_ROWS)) return count;
  }
  return rows.length;
}

/** The rows of a ledger line, none unless it is a charge. */
export function chargeRowsOf(entry: StoredLedgerEntry): readonly ChargeRow[] {
  if (entry.operation !== "charge") return [];
  return (entry.detail as { readonly rows: readonly ChargeRow[] }).rows;
}

function textLengthOf({ requestId, model, provider }: ChargeRow): number {
  return [requestId, model, provider].reduce((sum, text) => sum + Math.min(text.length, MOST_TEXT), 0);
}

function compactRow({ requestId, model, provider, usage, ...row }: ChargeRow): ChargeRow {
  const counted = Object.entries(usage ?? {}).filter(([, count]) => count);
  return {
    ...row,
    requestId: requestId.slice(0, MOST_TEXT),
    model: model.slice(0, MOST_TEXT),
    provider: provider.slice(0, MOST_TEXT),
    ...counted.length > 0 ? { usage: Object.fromEntries(counted) } : {},
  };
}
