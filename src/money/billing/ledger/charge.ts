import type { ChargeKind } from "../prices/tariff.ts";
import type { Usage } from "../../../conversation/neutral/usage.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type { Commit, StoredLedgerEntry, StoreLimits } from "../../../platform/store/store.ts";
import { mergeCommits } from "../accounts/records.ts";

/** The charge of one request. */
export interface ChargeRow {
  readonly requestId: string;
  /** The key of the request; null in rows of earlier versions. */
  readonly keyId: string | null;
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
  /** What the vendor's cache saved; below zero if it cost more than no cache. Absent: nothing, or unknown. */
  readonly cacheSaved?: Money;
}

/** Charges of one or more requests of one account that share one ledger entry. */
export interface GroupedCharge {
  readonly account: string;
  /** The reference of the ledger entry, unique forever. */
  readonly reference: string;
  readonly rows: readonly ChargeRow[];
}

/** A {@linkcode GroupedCharge} whose rows are written already. */
export interface WrittenCharge extends Omit<GroupedCharge, "rows"> {
  /** The sum of the rows' amounts, above zero. */
  readonly total: Money;
  /** Each row as {@linkcode writeRow} wrote it. */
  readonly rows: readonly string[];
}

const MAX_ROWS = 200;
/** The part of the value limit that rows may fill. The rest is for the other fields and the engine's encoding. */
const ROWS_SHARE = 0.78;
/** One wide character widens the whole text to two bytes a character. */
const MAX_BYTES_PER_CHARACTER = 2;
const MAX_TEXT_CHARACTERS = 200;

/**
 * Adds a charge to a commit. It may take `available` below zero, because the work was already done.
 *
 * @throws {RangeError} If a row's amount is not above zero.
 */
export function addCharge(commit: Commit, { account, reference, rows }: GroupedCharge): Commit {
  return addWrittenCharge(commit, { account, reference, total: totalOf(rows), rows: rows.map(writeRow) });
}

/** Adds a charge whose rows are written already to a commit, as {@linkcode addCharge}. */
export function addWrittenCharge(commit: Commit, { account, reference, total, rows }: WrittenCharge): Commit {
  return mergeCommits(commit, {
    changeBalances: [{ account, available: -total, held: 0n, overdraw: true }],
    ledgerEntries: [{
      account,
      operation: "charge",
      reference,
      available: -total,
      held: 0n,
      // A store copies and measures one text at a tenth of the cost of as many small objects.
      detail: { rows: `[${rows.join()}]` },
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

/**
 * Whether rows fit into one ledger entry.
 *
 * @param size The number of rows, and the characters of all of them as {@linkcode writeRow} writes them.
 */
export function areRowsFitting(
  size: { readonly count: number; readonly characters: number },
  { maxValueBytes }: Pick<StoreLimits, "maxValueBytes">,
): boolean {
  const bytes = MAX_BYTES_PER_CHARACTER * (size.characters + size.count + 1);
  return size.count <= MAX_ROWS && bytes <= maxValueBytes * ROWS_SHARE;
}

/** The rows of a ledger entry; none unless it is a charge. */
export function chargeRowsOf(entry: StoredLedgerEntry): readonly ChargeRow[] {
  if (entry.operation !== "charge") return [];
  const { rows } = entry.detail as { readonly rows: string };
  return (JSON.parse(rows) as StoredRow[]).map(readRow);
}

/**
 * A row as it is stored: at, kind, request, model, provider, amount, the counters in the order of
 * {@linkcode COUNTERS} or null, the key or null, and what a cache saved. Rows of earlier versions end before the key,
 * and those without a cache before what it saved.
 */
type StoredRow = [
  number,
  ChargeKind,
  string,
  string,
  string,
  string,
  (readonly number[] | null)?,
  (string | null)?,
  string?,
];

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
  "cacheWrite30mTokens",
  "cacheWrite12hTokens",
  "cacheWrite24hTokens",
  "mapSearches",
  "fileSearches",
  "webFetches",
  "ocrPages",
  "audioSeconds",
] as const satisfies readonly (keyof Usage)[];

/** Writes a row as JSON without line feeds. */
export function writeRow(written: ChargeRow): string {
  const { requestId, keyId, model, provider, amount, usage, at, kind, cacheSaved = 0n } = written;
  const row: StoredRow = [at, kind, shortened(requestId), shortened(model), shortened(provider), amount.toString()];
  const isCached = cacheSaved !== 0n;
  if (usage || keyId !== null || isCached) row.push(usage ? countersOf(usage) : null);
  if (keyId !== null || isCached) row.push(keyId === null ? null : shortened(keyId));
  if (isCached) row.push(cacheSaved.toString());
  return JSON.stringify(row);
}

/**
 * Reads a row that {@linkcode writeRow} wrote.
 *
 * @throws {Error} If the text is no such row.
 */
export function readWrittenRow(text: string): ChargeRow {
  const row = readRow(JSON.parse(text) as StoredRow);
  if (row.amount <= 0n) throw new RangeError("Cannot read a charge: its amount is not above zero");
  return row;
}

function shortened(text: string): string {
  return text.length > MAX_TEXT_CHARACTERS ? text.slice(0, MAX_TEXT_CHARACTERS) : text;
}

/**
 * The counters in the positions of {@linkcode COUNTERS}, without trailing zeros. Each is read by its own name: a loop
 * over the names takes ten times as long, for every charge.
 */
function countersOf(usage: Partial<Usage>): number[] {
  const counters = [
    usage.freshTokens ?? 0,
    usage.cacheReadTokens ?? 0,
    usage.cacheWrite5mTokens ?? 0,
    usage.cacheWrite1hTokens ?? 0,
    usage.toolPromptTokens ?? 0,
    usage.outputTokens ?? 0,
    usage.reasoningTokens ?? 0,
    usage.estimated ? 1 : 0,
    usage.imageInputTokens ?? 0,
    usage.imageCacheReadTokens ?? 0,
    usage.audioInputTokens ?? 0,
    usage.audioCacheReadTokens ?? 0,
    usage.imageOutputTokens ?? 0,
    usage.audioOutputTokens ?? 0,
    usage.videoOutputTokens ?? 0,
    usage.webSearches ?? 0,
    usage.imagesMade ?? 0,
    usage.cacheWrite30mTokens ?? 0,
    usage.cacheWrite12hTokens ?? 0,
    usage.cacheWrite24hTokens ?? 0,
    usage.mapSearches ?? 0,
    usage.fileSearches ?? 0,
    usage.webFetches ?? 0,
    usage.ocrPages ?? 0,
    usage.audioSeconds ?? 0,
  ];
  while (counters.length > 0 && counters[counters.length - 1] === 0) counters.pop();
  return counters;
}

function readRow([at, kind, requestId, model, provider, amount, counters, keyId, saved]: StoredRow): ChargeRow {
  const row = {
    requestId,
    keyId: keyId ?? null,
    at,
    kind,
    model,
    provider,
    amount: BigInt(amount),
    ...saved !== undefined && { cacheSaved: BigInt(saved) },
  };
  if (!counters) return row;
  const counted = COUNTERS.flatMap((name, place) => {
    const count = counters[place] ?? 0;
    return count === 0 ? [] : [[name, name === "estimated" ? true : count] as const];
  });
  return { ...row, usage: Object.fromEntries(counted) };
}
