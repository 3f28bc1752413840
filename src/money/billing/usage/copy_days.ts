import { randomBase62 } from "../../../platform/lib/basics/ids.ts";
import type { Entry, Key, Store, Version } from "../../../platform/store/store.ts";
import { pagesBelow } from "../../../platform/store/entries_below.ts";
import {
  addSums,
  USAGE,
  USAGE_DAYS,
  usageBlockKey,
  type UsageBlockRow,
  usageBlocksOf,
  type UsageDay,
  usageDayKey,
  type UsageRecord,
  type UsageSums,
  type UsageTable,
} from "./usage_records.ts";

/** Characters of the names in one block. With its numbers a block is within the limits of every store. */
const MAX_BLOCK_CHARACTERS = 10_000;
const MAX_BLOCK_ROWS = 200;
const REMOVED_AT_ONCE = 20;
const GENERATION_CHARACTERS = 16;

/** The days before a day that have usage and no complete copy. */
export async function daysWithoutCopy(store: Store, before: number): Promise<number[]> {
  const copied = new Set<number>();
  for await (const page of pagesBelow<UsageDay>(store, USAGE_DAYS)) {
    for (const { key, value } of page) if (value.blocks !== null) copied.add(Number(key.at(-1)));
  }
  const days: number[] = [];
  // Ends at `before`: each read is of a later day.
  for (
    let day = await firstDayAfter(store, null);
    day !== null && day < before;
    day = await firstDayAfter(store, day)
  ) {
    if (!copied.has(day)) days.push(day);
  }
  return days;
}

async function firstDayAfter(store: Store, day: number | null): Promise<number | null> {
  const [first] = await store.scan(USAGE, { ...day !== null && { after: [...USAGE, day + 1] }, limit: 1 });
  return first === undefined ? null : Number(first.key[2]);
}

/**
 * Copies the records of a past day into few large values.
 *
 *     the copy is begun → its blocks are written → the copy is complete
 *
 * Every write checks that nobody has removed or begun the copy since. A commit that changes a record of the day removes
 * the copy, so the blocks of a complete copy are exactly the records. What a killed process leaves is replaced by the
 * next copy.
 *
 * @returns Whether the day has a complete copy. If not, its records have changed meanwhile, or another process copies.
 */
export async function copyDay(store: Store, day: number, pause: () => Promise<void>): Promise<boolean> {
  const key = usageDayKey(day);
  const [found = null] = await store.get<UsageDay>([key]);
  if (found !== null && found.value.blocks !== null) return true;
  const generation = randomBase62(GENERATION_CHARACTERS);
  const begun = await store.commit(null, {
    check: [{ key, version: found?.version ?? null }],
    set: [{ key, value: { generation, blocks: null } satisfies UsageDay }],
  });
  const version = begun.ok && !begun.replayed ? begun.versions[0] : undefined;
  if (version === undefined) return false;
  await removeBelow(store, usageBlocksOf(day));
  const writer = new BlockWriter(store, { day, generation, key, version });
  const isDone = await writer.writeAll(pause) && (await store.commit(null, {
    check: [{ key, version }],
    set: [{ key, value: { generation, blocks: writer.blocks } satisfies UsageDay }],
  })).ok;
  if (!isDone) await removeBelow(store, [...usageBlocksOf(day), generation]);
  return isDone;
}

/** Removes the copies of all days. Their blocks stay until the next copy. */
export async function removeCopies(store: Store): Promise<void> {
  await removeBelow(store, USAGE_DAYS);
}

async function removeBelow(store: Store, prefix: Key): Promise<void> {
  for (;;) {
    const page = await store.scan(prefix, { limit: REMOVED_AT_ONCE });
    if (page.length > 0) await store.commit(null, { delete: page.map(({ key }) => key) });
    if (page.length < REMOVED_AT_ONCE) return;
  }
}

interface BegunCopy {
  readonly day: number;
  readonly generation: string;
  readonly key: Key;
  readonly version: Version;
}

/** Writes the blocks of a copy. */
class BlockWriter {
  readonly blocks: Record<UsageTable, number> = { records: 0, models: 0 };
  #rows: UsageBlockRow[] = [];
  #characters = 0;

  constructor(private readonly store: Store, private readonly copy: BegunCopy) {}

  /** Returns false if the copy was removed or begun again. */
  async writeAll(pause: () => Promise<void>): Promise<boolean> {
    const models = new Map<string, { readonly record: UsageRecord; sums: UsageSums }>();
    for await (const { key, value } of this.#records(pause)) {
      if (!await this.#add("records", rowOf(String(key[3]), value.key, value, value))) return false;
      const name = JSON.stringify([value.model, value.provider, value.kind]);
      const model = models.get(name);
      if (model) model.sums = addSums(model.sums, value);
      else models.set(name, { record: value, sums: value });
    }
    if (!await this.#write("records")) return false;
    for (const { record, sums } of models.values()) {
      if (!await this.#add("models", rowOf("", null, record, sums))) return false;
    }
    return await this.#write("models");
  }

  async *#records(pause: () => Promise<void>): AsyncGenerator<Entry<UsageRecord>> {
    for await (const page of pagesBelow<UsageRecord>(this.store, [...USAGE, this.copy.day])) {
      yield* page;
      await pause();
    }
  }

  async #add(table: UsageTable, row: UsageBlockRow): Promise<boolean> {
    const [account, key, model, provider] = row;
    const characters = account.length + (key?.length ?? 0) + model.length + provider.length;
    const isFull = this.#rows.length >= MAX_BLOCK_ROWS || this.#characters + characters > MAX_BLOCK_CHARACTERS;
    if (isFull && !await this.#write(table)) return false;
    this.#rows.push(row);
    this.#characters += characters;
    return true;
  }

  async #write(table: UsageTable): Promise<boolean> {
    const rows = this.#rows;
    if (rows.length === 0) return true;
    this.#rows = [];
    this.#characters = 0;
    const { day, generation, key, version } = this.copy;
    const { ok } = await this.store.commit(null, {
      check: [{ key, version }],
      set: [{ key: usageBlockKey(day, generation, table, this.blocks[table]++), value: rows }],
    });
    return ok;
  }
}

function rowOf(account: string, key: string | null, record: UsageRecord, { cost, counts }: UsageSums): UsageBlockRow {
  const { model, provider, kind } = record;
  return [account, key, model, provider, kind, cost, counts];
}
