import { entriesBelow } from "../../../platform/store/entries_below.ts";
import type { Key, Store } from "../../../platform/store/store.ts";
import { UsageBatch } from "./usage_batch.ts";
import { accountHeldKey, accountSpentOf, type UsageCursor, usageCursorKey, usageOf } from "./usage_records.ts";

const PAGE = 500;
const MAX_PASSES = 20;

/**
 * Compares the stored usage of an account with that of its ledger up to the cursor.
 *
 * @returns The keys of the values that differ, as text; null if the usage changed too often to be compared.
 */
export async function usageDifferences(store: Store, account: string): Promise<string[] | null> {
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const before = await cursorOf(store, account);
    const expected = await expectedValues(store, account, before);
    const found = await storedValues(store, account, expected);
    if (await cursorOf(store, account) !== before) continue;
    const names = new Set([...expected.keys(), ...found.keys()]);
    return [...names].filter((name) => expected.get(name)?.text !== found.get(name));
  }
  return null;
}

async function cursorOf(store: Store, account: string): Promise<string | null> {
  const [cursor] = await store.get<UsageCursor>([usageCursorKey(account)]);
  return cursor?.value.entry ?? null;
}

type Expected = ReadonlyMap<string, { readonly key: Key; readonly text: string }>;

async function expectedValues(store: Store, account: string, last: string | null): Promise<Expected> {
  const batch = new UsageBatch(account);
  let after: string | undefined;
  for (let isMore = last !== null; isMore;) {
    const entries = await store.ledger(account, { after, limit: PAGE });
    for (const entry of entries) if (entry.id <= last!) batch.add(entry);
    after = entries.at(-1)?.id;
    isMore = entries.length === PAGE && after !== undefined && after < last!;
  }
  return new Map(batch.changes().map(({ key, applyTo }) => [nameOf(key), { key, text: textOf(applyTo(null)) }]));
}

/** The expected values as they are stored, and all others of the account. */
async function storedValues(store: Store, account: string, expected: Expected): Promise<Map<string, string>> {
  const days = new Set<number>();
  const found = new Map<string, string>();
  const add = (key: Key, value: unknown) => void found.set(nameOf(key), textOf(value));
  for await (const { key, value } of entriesBelow(store, accountSpentOf(account))) {
    add(key, value);
    days.add(Number(key.at(-1)));
  }
  for (const { key } of expected.values()) if (key[1] === "day") days.add(Number(key[2]));
  const prefixes = [...[...days].map((day) => usageOf(day, account)), ["usage", "key_spent", account]];
  for (const prefix of [...prefixes, ["usage", "key_held", account]]) {
    for await (const { key, value } of entriesBelow(store, prefix)) add(key, value);
  }
  const [held] = await store.get([accountHeldKey(account)]);
  if (held) add(held.key, held.value);
  return found;
}

function nameOf(key: Key): string {
  return key.join("/");
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, part) => typeof part === "bigint" ? `${part}` : part);
}
