import { GatewayError } from "../../lib/gateway_error.ts";
import { PermitsByKey } from "../../lib/permits.ts";
import type { Store } from "../../store/store.ts";
import type { LedgerMeter } from "../meter.ts";
import type { UsageRow } from "./read_usage.ts";
import { addSums, NO_SUMS, type UsageSums } from "./usage_records.ts";
import type { UsageRollup } from "./usage_rollup.ts";

/** What usage can be grouped by. */
export const USAGE_DIMENSIONS = ["account", "key", "model", "provider", "kind", "day"] as const;

/** One of {@linkcode USAGE_DIMENSIONS}. */
export type UsageDimension = typeof USAGE_DIMENSIONS[number];

/** The value of a dimension: a day as days since 1970, others as text; null for an unknown key. */
export type UsageValue = string | number | null;

/** Which usage is summed, and how. */
export interface UsageQuery {
  /** In the order of the groups' values. */
  readonly groupBy: readonly UsageDimension[];
  /** Only usage with these values. */
  readonly only: Readonly<Partial<Record<Exclude<UsageDimension, "day">, string>>>;
  /** Days since 1970, UTC; the first one. */
  readonly fromDay: number;
  /** The day after the last one. */
  readonly toDay: number;
}

/** The sums of one group. */
export interface UsageGroup {
  /** In the order of `groupBy`. */
  readonly values: readonly UsageValue[];
  readonly sums: UsageSums;
}

/** The result of a query. */
export interface UsageReport {
  /** Sorted by their values. */
  readonly groups: readonly UsageGroup[];
  /** The sums of all groups. */
  readonly total: UsageSums;
}

/** Reports usage that agrees with the ledger at the time of the call. */
export interface UsageReports {
  /**
   * Sums usage. All charges that were made before the call are included.
   *
   * @throws {GatewayError} `invalid_request` if there are too many groups; `overloaded` while the usage of an earlier
   * version's ledger is being summed.
   */
  report(query: UsageQuery): Promise<UsageReport>;
}

/** The dependencies of usage reports. */
export interface UsageReportParts {
  readonly store: Store;
  readonly rollup: UsageRollup;
  /** Writes charges that wait in the journal to the ledger. */
  readonly meter: Pick<LedgerMeter, "settle" | "settleAll">;
}

/** Groups of one report. */
export const MAX_USAGE_GROUPS = 10_000;
/** Stored sums that one report reads. */
const MAX_ROWS = 500_000;
/** Rows that are added up without a pause for other work: a few milliseconds. */
const ROWS_PER_SLICE = 4_000;
/** Readings of a report while copies of days are replaced. The last one reads no copies. */
const MAX_ATTEMPTS = 3;
/** How long a report of all accounts waits for the first pass over the ledgers. */
const MAX_FIRST_PASS_MS = 10_000;
const RETRY_AFTER_SECONDS = 10;
/** The name of the reports of all accounts; no account has it. */
const ALL = "";

/** Reports usage, one report at a time for each account and for the operator. */
export function createUsageReports({ store, rollup, meter }: UsageReportParts): UsageReports {
  const permits = new PermitsByKey(1);
  return {
    report(query) {
      const { account = ALL } = query.only;
      return permits.run(account, async () => {
        try {
          await (account === ALL ? meter.settleAll() : meter.settle(account));
        } catch { /* the meter logs and retries; the report agrees with the ledger as it is */ }
        await (account === ALL ? inTime(rollup) : rollup.fold(account));
        return await sumUsage(store, query);
      });
    },
  };
}

async function inTime(rollup: UsageRollup): Promise<void> {
  const folded = rollup.foldAll();
  if (rollup.isReady) return await folded;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<true>((resolve) => timer = setTimeout(resolve, MAX_FIRST_PASS_MS, true));
  try {
    if (await Promise.race([folded, late]) !== true) return;
  } finally {
    clearTimeout(timer);
  }
  folded.catch(() => {});
  throw new GatewayError("overloaded", "Cannot report usage yet: the ledger of an earlier version is being summed", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/**
 * Sums the stored usage.
 *
 * @throws {GatewayError} `invalid_request` if there are too many groups or stored sums.
 */
export async function sumUsage(store: Store, query: UsageQuery): Promise<UsageReport> {
  const { CopyReplacedError } = await import("./read_usage.ts");
  for (let attempt = 1;; attempt++) {
    try {
      return await sumPages(pagesOf(store, query, attempt < MAX_ATTEMPTS), query);
    } catch (error) {
      if (!(error instanceof CopyReplacedError)) throw error;
    }
  }
}

async function sumPages(pages: AsyncIterable<readonly UsageRow[]>, query: UsageQuery): Promise<UsageReport> {
  const groups = new Map<string, GroupSums>();
  let [rows, pausedAt] = [0, 0];
  for await (const page of pages) {
    rows += page.length;
    if (rows - pausedAt >= ROWS_PER_SLICE) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      pausedAt = rows;
    }
    if (rows > MAX_ROWS) throw tooMuch(`has more than ${MAX_ROWS} stored sums`);
    for (const row of page) {
      if (!isIncluded(row, query)) continue;
      const values = query.groupBy.map((dimension) => row[dimension]);
      const name = values.join(SEPARATOR);
      let group = groups.get(name);
      if (group === undefined) groups.set(name, group = { values, cost: 0n, counts: [] });
      addTo(group, row);
    }
    if (groups.size > MAX_USAGE_GROUPS) throw tooMuch(`has more than ${MAX_USAGE_GROUPS} groups`);
  }
  const sorted = [...groups.values()].sort((a, b) => compareValues(a.values, b.values));
  const shown = sorted.map(({ values, cost, counts }): UsageGroup => ({ values, sums: { cost, counts } }));
  return { groups: shown, total: shown.reduce((total, { sums }) => addSums(total, sums), NO_SUMS) };
}

/** No value contains it. */
const SEPARATOR = "\0";

/** The sums of a group while a report is made. A report adds up many records, so they are changed in place. */
interface GroupSums {
  readonly values: readonly UsageValue[];
  cost: UsageSums["cost"];
  readonly counts: number[];
}

function addTo(group: GroupSums, { cost, counts }: UsageSums): void {
  group.cost += cost;
  for (let place = 0; place < counts.length; place++) {
    group.counts[place] = (group.counts[place] ?? 0) + (counts[place] ?? 0);
  }
}

function tooMuch(why: string): GatewayError {
  const hint = "shorten the range of from and to, filter, or group by fewer fields";
  return new GatewayError("invalid_request", `Cannot report the usage: the range ${why}; ${hint}`, { field: "from" });
}

/** Compares the values of two groups: null first, days by time, text by its characters. */
export function compareValues(one: readonly UsageValue[], other: readonly UsageValue[]): number {
  for (const [place, left] of one.entries()) {
    const right = other[place] ?? null;
    if (left === right) continue;
    if (left === null || right === null) return left === null ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return 0;
}

function isIncluded(row: UsageRow, { only }: UsageQuery): boolean {
  for (const dimension in only) {
    const value = only[dimension as keyof typeof only];
    if (value !== undefined && row[dimension as keyof typeof only] !== value) return false;
  }
  return true;
}

/** The stored sums page by page: an iteration for each of them would cost more than its addition. */
async function* pagesOf(
  store: Store,
  query: UsageQuery,
  readsCopies: boolean,
): AsyncGenerator<readonly UsageRow[]> {
  const { groupBy, only, fromDay, toDay } = query;
  const { readUsageOfAccount, readUsageOfAll } = await import("./read_usage.ts");
  if (only.account !== undefined) return yield* readUsageOfAccount(store, only.account, { fromDay, toDay });
  const isByAccount = only.key !== undefined || groupBy.includes("account") || groupBy.includes("key");
  const table = isByAccount ? "records" : "models";
  yield* readUsageOfAll(store, readsCopies ? table : null, { fromDay, toDay });
}
