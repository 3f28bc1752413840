import type { ChargeKind } from "./tariff.ts";
import type { Usage } from "../conversation/usage.ts";
import type { Money } from "../lib/money.ts";
import type { Commit, StoredLedgerEntry, StoreLimits } from "../store/store.ts";
import { mergeCommits } from "./records.ts";

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

/** Money taken at once, on one ledger line, for one or more requests of one account. */
export interface GroupedCharge {
  readonly account: string;
  /** Names the line for ever. */
  readonly reference: string;
  readonly rows: readonly ChargeRow[];
}

const MOST_ROWS = 200;
/** The part of a value's limit that rows may fill. The rest is for the other fields and the engine's encoding. */
const ROWS_SHARE = 0.78;
// Marks, numbers and counters of one row, at two bytes a character, as one wide character makes all of the text wide.
const ROW_BYTES = 320;
/** Counters that the bytes of a row allow for; each one more takes these bytes. */
const USUAL_COUNTERS = 8;
const COUNTER_BYTES = 24;
const MOST_TEXT = 200;

/**
 * The commit with a charge in it. It may take `available` below zero: what was consumed is owed.
 *
 * @throws {RangeError} If a row's amount is not above zero.
 */
export function addCharge(commit: Commit, { account, reference, rows }: GroupedCharge): Commit {
  const total = totalOf(rows);
  return mergeCommits(commit, {
    changeBalances: [{ account, available: -total, held: 0n, overdraw: true }],
    ledgerEntries: [{
      account,
      operation: "charge",
      reference,
      available: -total,
      held: 0n,
      detail: { rows: writeRows(rows) },
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
export function countFittingRows(
  rows: readonly ChargeRow[],
  { maxValueBytes }: Pick<StoreLimits, "maxValueBytes">,
): number {
  const maxBytes = maxValueBytes * ROWS_SHARE;
  let bytes = 0;
  for (let count = 0; count < rows.length; count++) {
    const more = Math.max(0, countersOf(rows[count].usage ?? {}).length - USUAL_COUNTERS);
    bytes += ROW_BYTES + more * COUNTER_BYTES + 2 * textLengthOf(rows[count]);
    if (count > 0 && (bytes > maxBytes || count >= MOST_ROWS)) return count;
  }
  return rows.length;
}

/** The rows of a ledger line, none unless it is a charge. */
export function chargeRowsOf(entry: StoredLedgerEntry): readonly ChargeRow[] {
  if (entry.operation !== "charge") return [];
  const { rows } = entry.detail as { readonly rows: string };
  return (JSON.parse(rows) as StoredRow[]).map(readRow);
}

/**
 * A row as it is stored: at, kind, request, model, provider, amount, and the counters in the order of {@linkcode
 * COUNTERS}.
 */
type StoredRow = [number, ChargeKind, string, string, string, string, (readonly number[])?];

/** The places of the counters in a stored row; new ones go to the end. `estimated` is 1 or 0. */
const COUNTERS = [
  "freshTokens",
  "cacheReadTokens",
  "cacheWrite5mTokens",
  "cacheWrite1hTokens",
  "toolPromptTokens",
  "outputTokens",
  "reasoningTokens",
  "estimated",
  "imageInputTokens",
  "imageCacheReadTokens",
  "audioInputTokens",
  "audioCacheReadTokens",
  "imageOutputTokens",
  "audioOutputTokens",
  "videoOutputTokens",
  "webSearches",
  "imagesMade",
] as const satisfies readonly (keyof Usage)[];

/**
 * Rows as one JSON text. A store copies and measures what it is given, and does so with a text at a tenth of the price
 * of as many small objects; at thousands of charges a second that is felt.
 */
function writeRows(rows: readonly ChargeRow[]): string {
  return JSON.stringify(rows.map(writeRow));
}

function writeRow({ requestId, model, provider, amount, usage, at, kind }: ChargeRow): StoredRow {
  const texts = [requestId, model, provider].map((text) => text.slice(0, MOST_TEXT)) as [string, string, string];
  const row: StoredRow = [at, kind, ...texts, amount.toString()];
  if (usage) row.push(countersOf(usage));
  return row;
}

/** The counters in their places, without zeros behind the last one that is not zero. */
function countersOf(usage: Partial<Usage>): number[] {
  const counters = COUNTERS.map((name) => Number(usage[name] ?? 0));
  return counters.slice(0, counters.findLastIndex((count) => count !== 0) + 1);
}

function readRow([at, kind, requestId, model, provider, amount, counters]: StoredRow): ChargeRow {
  const row = { requestId, at, kind, model, provider, amount: BigInt(amount) };
  if (!counters) return row;
  const counted = COUNTERS.flatMap((name, place) => {
    const count = counters[place] ?? 0;
    return count === 0 ? [] : [[name, name === "estimated" ? true : count] as const];
  });
  return { ...row, usage: Object.fromEntries(counted) };
}

function textLengthOf({ requestId, model, provider }: ChargeRow): number {
  return [requestId, model, provider].reduce((sum, text) => sum + Math.min(text.length, MOST_TEXT), 0);
}
