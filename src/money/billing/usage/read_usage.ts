import { pagesBelow } from "../../../platform/store/entries_below.ts";
import type { Entry, Key, Store } from "../../../platform/store/store.ts";
import {
  accountSpentOf,
  USAGE,
  USAGE_DAYS,
  usageBlockKey,
  type UsageBlockRow,
  type UsageDay,
  usageOf,
  type UsageRecord,
  type UsageTable,
} from "./usage_records.ts";

/** A stored sum with its day and account. */
export interface UsageRow extends UsageRecord {
  /** Empty in a sum over all accounts. */
  readonly account: string;
  /** Days since 1970, UTC. */
  readonly day: number;
}

/** Days since 1970, UTC. */
export interface DayRange {
  /** The first one. */
  readonly fromDay: number;
  /** The day after the last one. */
  readonly toDay: number;
}

/** Blocks that are read at once: 4,000 rows, a few milliseconds. */
const BLOCKS_AT_ONCE = 20;

/** The records of one account, in pages. */
export async function* readUsageOfAccount(
  store: Store,
  account: string,
  { fromDay, toDay }: DayRange,
): AsyncGenerator<readonly UsageRow[]> {
  const spent = accountSpentOf(account);
  for await (const page of pagesBelow(store, spent, fromDay > 0 ? { after: [...spent, fromDay - 1] } : {})) {
    for (const { key } of page) {
      const day = Number(key.at(-1));
      if (day >= toDay) return;
      for await (const records of pagesBelow<UsageRecord>(store, usageOf(day, account))) yield records.map(rowOfRecord);
    }
  }
}

/** A copy was replaced after it was found. What was read with it is to be read again. */
export class CopyReplacedError extends Error {
  override readonly name = "CopyReplacedError";
}

/**
 * The records of all accounts, in pages, in no order.
 *
 * @param table `models` if neither accounts nor keys matter: rows of days that have a copy are sums over them then.
 * Null reads the records alone.
 * @throws {CopyReplacedError}
 */
export async function* readUsageOfAll(
  store: Store,
  table: UsageTable | null,
  { fromDay, toDay }: DayRange,
): AsyncGenerator<readonly UsageRow[]> {
  let nextDay = fromDay;
  const blocks: Block[] = [];
  for await (const copies of table === null ? [] : copiesIn(store, { fromDay, toDay })) {
    for (const { day, generation, blocks: counts } of copies) {
      yield* recordsIn(store, { fromDay: nextDay, toDay: day });
      nextDay = day + 1;
      for (let place = 0; table !== null && place < counts[table]; place++) {
        blocks.push({ day, key: usageBlockKey(day, generation, table, place) });
        if (blocks.length === BLOCKS_AT_ONCE) yield await rowsOf(store, blocks.splice(0));
      }
    }
  }
  if (blocks.length > 0) yield await rowsOf(store, blocks);
  yield* recordsIn(store, { fromDay: nextDay, toDay });
}

interface DayCopy {
  readonly day: number;
  readonly generation: string;
  readonly blocks: Readonly<Record<UsageTable, number>>;
}

/** The complete copies of days, in pages. */
async function* copiesIn(store: Store, { fromDay, toDay }: DayRange): AsyncGenerator<readonly DayCopy[]> {
  const after = fromDay > 0 ? [...USAGE_DAYS, fromDay - 1] : undefined;
  for await (const page of pagesBelow<UsageDay>(store, USAGE_DAYS, { after })) {
    yield page.flatMap(({ key, value: { generation, blocks } }): DayCopy[] => {
      const day = Number(key.at(-1));
      return blocks === null || day >= toDay ? [] : [{ day, generation, blocks }];
    });
    if (Number(page.at(-1)?.key.at(-1)) >= toDay) return;
  }
}

interface Block {
  readonly day: number;
  readonly key: Key;
}

/** @throws {CopyReplacedError} If a block is missing. */
async function rowsOf(store: Store, blocks: readonly Block[]): Promise<UsageRow[]> {
  const found = await store.get<readonly UsageBlockRow[]>(blocks.map(({ key }) => key));
  return blocks.flatMap(({ day }, place) => {
    const block = found[place];
    if (!block) throw new CopyReplacedError(`The copy of day ${day} was replaced`);
    return block.value.map(([account, key, model, provider, kind, cost, counts]): UsageRow => (
      { day, account, key, model, provider, kind, cost, counts }
    ));
  });
}

/** The records of some days. */
async function* recordsIn(store: Store, { fromDay, toDay }: DayRange): AsyncGenerator<readonly UsageRow[]> {
  if (fromDay >= toDay) return;
  const after = fromDay > 0 ? [...USAGE, fromDay] : undefined; // all keys of that day have further parts
  // Most gaps between copies are days without usage, after which a page would hold records that are not needed.
  if (toDay !== Infinity) {
    const [first] = await store.scan(USAGE, { after, limit: 1 });
    if (first === undefined || Number(first.key[2]) >= toDay) return;
  }
  for await (const page of pagesBelow<UsageRecord>(store, USAGE, { after })) {
    const end = page.findIndex(({ key }) => Number(key[2]) >= toDay);
    yield (end === -1 ? page : page.slice(0, end)).map(rowOfRecord);
    if (end !== -1) return;
  }
}

/** The day and the account of a record are in its key. */
function rowOfRecord({ key: [, , day, account], value }: Entry<UsageRecord>): UsageRow {
  const { key, model, provider, kind, cost, counts } = value;
  return { day: Number(day), account: String(account), key, model, provider, kind, cost, counts };
}
