import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import { nextTurn } from "../../platform/lib/streams/loop_turns.ts";
import { addCounts, type Counts, countsLess, NO_COUNTS, UNKNOWN_COUNTS } from "./counted.ts";
import { moneyOf } from "./exact_usd.ts";
import type { OwnRow, OwnSums } from "./own_sums.ts";
import type { ReportRange } from "./vendor_report.ts";
import type { VendorRow } from "./vendor_sums.ts";

/**
 * What is known about a day: `complete`; `in_progress`, so that both sides can still change; `not_reported`, since the
 * vendor does not report it; `not_recorded`, since it is before the first entry of the ledger.
 */
export type DayState = "complete" | "in_progress" | "not_reported" | "not_recorded";

/** Sums of one side. */
export interface Sums {
  readonly cost: Money;
  readonly counts: Counts;
}

/** One side next to the other. The difference is theirs less ours. */
export interface Compared {
  readonly theirs: Sums;
  readonly ours: Sums;
  readonly difference: Sums;
}

/** A model on a day. */
export interface ComparedRow extends Compared {
  /** Null for the whole range. */
  readonly day: number | null;
  readonly name: string;
  /** Null if the vendor reports nothing. */
  readonly vendor: VendorRow | null;
  /** Empty if the ledger has nothing. With a bill of the whole range, those of all its days. */
  readonly own: readonly OwnRow[];
}

/** All models of a day. */
export interface ComparedDay {
  readonly day: number;
  readonly state: DayState;
  /** Null if one side is not known. */
  readonly sums: Compared | null;
}

/** The result of a comparison. */
export interface Comparison {
  /** Sorted by day and name; those of days that one side does not have are left out. */
  readonly rows: readonly ComparedRow[];
  /** Empty for a bill of the whole range. */
  readonly days: readonly ComparedDay[];
  /** The sums of the rows. */
  readonly total: Compared;
}

/** What is compared. */
export interface ComparedSides {
  readonly theirs: readonly VendorRow[];
  readonly ours: OwnSums;
  readonly range: ReportRange;
  /** The days that the vendor reports. */
  readonly reported: ReportRange;
  /** Days since 1970, UTC. */
  readonly today: number;
}

const ROWS_PER_TURN = 500;
/** Rows of one comparison: a month of 150 models. */
const MAX_ROWS = 5_000;
const NOTHING: Sums = { cost: 0n, counts: NO_COUNTS };
const SEPARATOR = "\0";

/**
 * Compares a vendor's report with the ledger.
 *
 * @throws {GatewayError} `invalid_request` if there are more than 5,000 rows.
 */
export async function compare(sides: ComparedSides): Promise<Comparison> {
  const { theirs, ours, range } = sides;
  const isByDay = theirs.every(({ day }) => day !== null);
  const stateOf = (day: number) => dayState(day, sides);
  const pairs = new Map<string, { vendor: VendorRow | null; own: OwnRow[] }>();
  const pairOf = (day: number | null, name: string) => {
    const key = `${day}${SEPARATOR}${name}`;
    const pair = pairs.get(key) ?? { vendor: null, own: [] };
    pairs.set(key, pair);
    return pair;
  };
  for (const row of theirs) if (row.day === null || isIn(range, row.day)) pairOf(row.day, row.name).vendor = row;
  for (const row of ours.rows) pairOf(isByDay ? row.day : null, row.name).own.push(row);
  if (pairs.size > MAX_ROWS) {
    const what = `more than ${MAX_ROWS} rows of a day and a model`;
    throw new GatewayError("invalid_request", `Cannot reconcile: ${what}; shorten the range`, { field: "from" });
  }
  const rows: ComparedRow[] = [];
  for (const { vendor, own } of pairs.values()) {
    if (rows.length % ROWS_PER_TURN === 0) await nextTurn();
    const day = vendor?.day ?? (isByDay ? own[0]?.day ?? null : null);
    if (day !== null && !isKnown(stateOf(day))) continue;
    rows.push({
      day,
      name: vendor?.name ?? own[0]?.name ?? "",
      vendor,
      own,
      ...compared(theirsOf(vendor), oursOf(own)),
    });
  }
  rows.sort((one, other) => (one.day ?? 0) - (other.day ?? 0) || (one.name < other.name ? -1 : 1));
  await nextTurn();
  return { rows, days: isByDay ? daysOf(rows, range, stateOf) : [], total: sumOf(rows) };
}

function isIn({ fromDay, toDay }: ReportRange, day: number): boolean {
  return day >= fromDay && day < toDay;
}

function dayState(day: number, { ours: { firstDay }, reported, today }: ComparedSides): DayState {
  if (!isIn(reported, day)) return "not_reported";
  if (firstDay === null || day < firstDay) return "not_recorded";
  return day >= today ? "in_progress" : "complete";
}

function isKnown(state: DayState): boolean {
  return state === "complete" || state === "in_progress";
}

/** What a vendor does not report is unknown, except that there was none if it bills nothing. */
function theirsOf(vendor: VendorRow | null): Sums {
  return vendor === null ? NOTHING : { cost: moneyOf(vendor.amount), counts: vendor.counts };
}

function oursOf(own: readonly OwnRow[]): Sums {
  return own.reduce((sum, { cost, counts }): Sums => addSums(sum, { cost, counts }), NOTHING);
}

function compared(theirs: Sums, ours: Sums): Compared {
  return {
    theirs,
    ours,
    difference: { cost: theirs.cost - ours.cost, counts: countsLess(theirs.counts, ours.counts) },
  };
}

function addSums(one: Sums, other: Sums): Sums {
  return { cost: one.cost + other.cost, counts: addCounts(one.counts, other.counts) };
}

/** Counts of items that are not of a model, and of models without counts, are left out of sums. */
function sumOf(rows: readonly Compared[]): Compared {
  const [theirs, ours] = rows.reduce<[Sums, Sums]>(
    ([a, b], row) => [addSums(a, withoutUnknown(row.theirs)), addSums(b, row.ours)],
    [NOTHING, NOTHING],
  );
  return compared(theirs, ours);
}

function withoutUnknown({ cost, counts }: Sums): Sums {
  return { cost, counts: counts === UNKNOWN_COUNTS ? NO_COUNTS : counts };
}

function daysOf(
  rows: readonly ComparedRow[],
  { fromDay, toDay }: ReportRange,
  stateOf: (day: number) => DayState,
): ComparedDay[] {
  const byDay = Map.groupBy(rows, ({ day }) => day);
  return Array.from({ length: toDay - fromDay }, (_, place) => {
    const day = fromDay + place;
    const state = stateOf(day);
    return { day, state, sums: isKnown(state) ? sumOf(byDay.get(day) ?? []) : null };
  });
}
