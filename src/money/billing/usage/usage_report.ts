import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { FairPermits } from "../../../platform/lib/collections/permits.ts";
import type { Store } from "../../../platform/store/store.ts";
import type { LedgerMeter } from "../meter/meter.ts";
import type { ChosenGroups } from "./group_sums.ts";
import type { UsageRow } from "./read_usage.ts";
import { compareValues, type UsageDimension, type UsageGroup } from "./usage_group.ts";
import { addSums, NO_SUMS, type UsageSums } from "./usage_records.ts";
import type { UsageRollup } from "./usage_rollup.ts";
import { nextTurn } from "../../../platform/lib/streams/loop_turns.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const readUsageModule = new Late(() => import("./read_usage.ts"));
const groupSumsModule = new Late(() => import("./group_sums.ts"));

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
  /** How many groups to report, those with the highest cost over all days. Default: all. */
  readonly top?: number;
}

/** The result of a query. */
export interface UsageReport {
  /** Sorted by their values. */
  readonly groups: readonly UsageGroup[];
  /** The sums of the groups that `top` leaves out: by day if the query groups by day, else at most one. Sorted. */
  readonly others: readonly UsageGroup[];
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

/** Groups of one report. Sorting so many takes a tenth of a second. */
export const MAX_USAGE_GROUPS = 50_000;
/** Groups of which one report chooses, which are not sorted: a few ten megabytes. */
const MAX_GROUPS_TO_CHOOSE = 200_000;
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
  const permits = new FairPermits({ each: 1 });
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
  const { CopyReplacedError } = await readUsageModule.load();
  for (let attempt = 1;; attempt++) {
    try {
      return await sumPages(pagesOf(store, query, attempt < MAX_ATTEMPTS), query);
    } catch (error) {
      if (!(error instanceof CopyReplacedError)) throw error;
    }
  }
}

async function sumPages(pages: AsyncIterable<readonly UsageRow[]>, query: UsageQuery): Promise<UsageReport> {
  const { groupBy, top } = query;
  const maxGroups = top === undefined ? MAX_USAGE_GROUPS : MAX_GROUPS_TO_CHOOSE;
  const { GroupSums } = await groupSumsModule.load();
  const groups = new GroupSums(groupBy);
  let [rows, pausedAt] = [0, 0];
  for await (const page of pages) {
    rows += page.length;
    if (rows - pausedAt >= ROWS_PER_SLICE) {
      await nextTurn();
      pausedAt = rows;
    }
    if (rows > MAX_ROWS) throw tooMuch(`has more than ${MAX_ROWS} stored sums`);
    for (const row of page) if (isIncluded(row, query)) groups.add(row);
    if (groups.size > maxGroups) {
      throw tooMuch(`has more than ${maxGroups} groups`, top === undefined ? "set top, " : "");
    }
  }
  return reportOf(top === undefined ? groups.all() : groups.top(top));
}

function reportOf({ groups, others }: ChosenGroups): UsageReport {
  const sorted = (list: readonly UsageGroup[]) => list.toSorted((a, b) => compareValues(a.values, b.values));
  return { groups: sorted(groups), others: sorted(others), total: sumOf([...groups, ...others]) };
}

function sumOf(groups: readonly UsageGroup[]): UsageSums {
  return groups.reduce((total, { sums }) => addSums(total, sums), NO_SUMS);
}

function tooMuch(why: string, firstHint = ""): GatewayError {
  const hint = "shorten the range of from and to, filter, or group by fewer fields";
  return new GatewayError("invalid_request", `Cannot report the usage: the range ${why}; ${firstHint}${hint}`, {
    field: "from",
  });
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
  const { readUsageOfAccount, readUsageOfAll } = await readUsageModule.load();
  if (only.account !== undefined) return yield* readUsageOfAccount(store, only.account, { fromDay, toDay });
  const isByAccount = only.key !== undefined || groupBy.includes("account") || groupBy.includes("key");
  const table = isByAccount ? "records" : "models";
  yield* readUsageOfAll(store, readsCopies ? table : null, { fromDay, toDay });
}
