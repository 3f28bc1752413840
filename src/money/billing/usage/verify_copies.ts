import { appendAll } from "../../../platform/lib/collections/append_all.ts";
import { entriesBelow } from "../../../platform/store/entries_below.ts";
import type { Store } from "../../../platform/store/store.ts";
import { CopyReplacedError, readUsageOfAll, type UsageRow } from "./read_usage.ts";
import {
  addSums,
  NO_SUMS,
  USAGE,
  USAGE_DAYS,
  type UsageDay,
  usageDayKey,
  type UsageRecord,
  type UsageSums,
  type UsageTable,
} from "./usage_records.ts";

const TABLES: readonly UsageTable[] = ["records", "models"];

/**
 * Compares the copies of past days with their records. A copy that is removed meanwhile is not compared.
 *
 * @returns The days whose copies differ, as days since 1970, UTC.
 */
export async function wrongCopies(store: Store): Promise<number[]> {
  const days: number[] = [];
  for await (const { key, value, version } of entriesBelow<UsageDay>(store, USAGE_DAYS)) {
    const day = Number(key.at(-1));
    if (value.blocks === null || await isExact(store, day).catch(isReplaced)) continue;
    const [now] = await store.get([usageDayKey(day)]);
    if (now?.version === version) days.push(day);
  }
  return days;
}

function isReplaced(error: unknown): true {
  if (error instanceof CopyReplacedError) return true;
  throw error;
}

async function isExact(store: Store, day: number): Promise<boolean> {
  const records: UsageRow[] = [];
  for await (const { key, value } of entriesBelow<UsageRecord>(store, [...USAGE, day])) {
    records.push({ ...value, day, account: String(key[3]) });
  }
  for (const table of TABLES) {
    const copied: UsageRow[] = [];
    for await (const page of readUsageOfAll(store, table, { fromDay: day, toDay: day + 1 })) appendAll(copied, page);
    const [expected, found] = [sumsOf(records, table), sumsOf(copied, table)];
    if (expected.size !== found.size) return false;
    for (const [name, sums] of expected) if (textOf(sums) !== textOf(found.get(name) ?? NO_SUMS)) return false;
  }
  return true;
}

/** The sums by what the rows of a table name. */
function sumsOf(rows: readonly UsageRow[], table: UsageTable): Map<string, UsageSums> {
  const sums = new Map<string, UsageSums>();
  for (const row of rows) {
    const { account, key, model, provider, kind } = row;
    const name = JSON.stringify(table === "models" ? [model, provider, kind] : [account, key, model, provider, kind]);
    sums.set(name, addSums(sums.get(name) ?? NO_SUMS, row));
  }
  return sums;
}

function textOf({ cost, counts }: UsageSums): string {
  return `${cost} ${counts.join(" ")}`;
}
