import type { ChargeKind } from "./tariff.ts";
import type { Usage } from "../conversation/usage.ts";
import type { Money } from "../lib/money.ts";
import type { Commit, StoredLedgerEntry, StoreLimits } from "../store/store.ts";
import { mergeCommits } from "./records.ts";

/** The charge of one request. */
export interface ChargeRow {
  readonly requestId: string;
  /** Unix milliseconds: the end of the reply. */
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

/** Charges of one or more requests of one account that share one ledger entry. */
export interface GroupedCharge {
  readonly account: string;
  /** The reference of the ledger entry, unique forever. */
  readonly reference: string;
  readonly rows: readonly ChargeRow[];
}

const MAX_ROWS = 200;
/** The part of the value limit that rows may fill. The rest is for the other fields and the engine's encoding. */
const ROWS_SHARE = 0.78;
// Punctuation, numbers and counters of one row at two bytes a character, because one wide character widens the whole
// text.
const ROW_BYTES = 320;
/** Counters included in the bytes of a row; each further counter takes {@linkcode COUNTER_BYTES}. */
const INCLUDED_COUNTERS = 8;
const COUNTER_BYTES = 24;
const MAX_TEXT_CHARACTERS = 200;

/**
 * Adds a charge to a commit. It may take `available` below zero, because the work was already done.
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

/** The sum of the rows' amounts. */
export function totalOf(rows: readonly ChargeRow[]): Money {
  let total = 0n;
  for (const { amount } of rows) {
    if (amount <= 0n) throw new RangeError(`Cannot charge an amount that is not above zero: got ${amount}`);
    total += amount;
  }
  return total;
}

/** The number of first rows that fit into one ledger entry: at least one. */
export function countFittingRows(
  rows: readonly ChargeRow[],
  { maxValueBytes }: Pick<StoreLimits, "maxValueBytes">,
): number {
  const maxBytes = maxValueBytes * ROWS_SHARE;
  let bytes = 0;
  for (const [count, row] of rows.entries()) {
    const more = Math.max(0, countersOf(row.usage ?? {}).length - INCLUDED_COUNTERS);
    bytes += ROW_BYTES + more * COUNTER_BYTES + 2 * textLengthOf(row);
    if (count > 0 && (bytes > maxBytes || count >= MAX_ROWS)) return count;
  }
  return rows.length;
}

/** The rows of a ledger entry; none unless it is a charge. */
export function chargeRowsOf(entry: StoredLedgerEntry): readonly ChargeRow[] {
  if (entry.operation !== "charge") return [];
  const { rows } = entry.detail as { readonly rows: string };
  return (JSON.parse(rows) as StoredRow[]).map(readRow);
}

/**
 * A row as it is stored: at, kind, request, model, provider, amount, and the counters in the order of
 * {@linkcode COUNTERS}.
 */
type StoredRow = [number, ChargeKind, string, string, string, string, (readonly number[])?];

/** The positions of the counters in a stored row. New counters go to the end. `estimated` is 1 or 0. */
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
 * Writes rows as one JSON text. A store copies and measures a text at a tenth of the cost of as many small objects,
 * which matters at thousands of charges per second.
 */
function writeRows(rows: readonly ChargeRow[]): string {
  return JSON.stringify(rows.map(writeRow));
}

function writeRow({ requestId, model, provider, amount, usage, at, kind }: ChargeRow): StoredRow {
  const texts = [requestId, model, provider].map((text) => text.slice(0, MAX_TEXT_CHARACTERS)) as [
    string,
    string,
    string,
  ];
  const row: StoredRow = [at, kind, ...texts, amount.toString()];
  if (usage) row.push(countersOf(usage));
  return row;
}

/** The counters in their positions, without trailing zeros. */
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
  return [requestId, model, provider].reduce((sum, text) => sum + Math.min(text.length, MAX_TEXT_CHARACTERS), 0);
}
