import { createHash } from "node:crypto";
import type { Money } from "../../../platform/lib/basics/money.ts";
import type { Key } from "../../../platform/store/store.ts";
import type { ChargeKind } from "../prices/tariff.ts";

/** What usage is grouped by, beside the account and the day. */
export interface UsageSource {
  /** The id of the key; null where the ledger does not name it. */
  readonly key: string | null;
  readonly model: string;
  /** Empty where the ledger does not name it. */
  readonly provider: string;
  readonly kind: ChargeKind;
}

/**
 * What is added up beside the cost, in this order: requests, requests whose tokens the gateway estimated, prompt tokens
 * with those in caches, tokens read from caches, tokens written to caches, output tokens, reasoning tokens among them,
 * images, web searches, seconds of video, and what vendors' caches saved in 10^-10 USD. New counts go to the end. Those
 * that are missing at the end are zero.
 */
export type UsageCounts = readonly number[];

/** Sums of usage. */
export interface UsageSums {
  readonly cost: Money;
  readonly counts: UsageCounts;
}

/** No usage. */
export const NO_SUMS: UsageSums = { cost: 0n, counts: [] };

/** The sum of two. */
export function addSums(one: UsageSums, other: UsageSums): UsageSums {
  const [longer, shorter] = one.counts.length < other.counts.length ? [other, one] : [one, other];
  return {
    cost: one.cost + other.cost,
    counts: longer.counts.map((count, place) => count + (shorter.counts[place] ?? 0)),
  };
}

/** The usage of one account on one day that has one {@linkcode UsageSource}. */
export interface UsageRecord extends UsageSource, UsageSums {}

/** How far the ledger of an account is in its usage. */
export interface UsageCursor {
  /** The id of the last ledger entry that is. */
  readonly entry: string;
  /** Absent if a version wrote it that does not remove the {@linkcode UsageDay}s of the days that it changes. */
  readonly removesCopies?: true;
}

/** Milliseconds of a UTC day, which has no leap seconds in Unix time. */
export const DAY_MS = 86_400_000;

const HASH_CHARACTERS = 22;

/** The prefix of all {@linkcode UsageRecord}s, by day and account. */
export const USAGE: Key = ["usage", "day"];

/** The prefix of the records of one account on one day. */
export const usageOf = (day: number, account: string): Key => [...USAGE, day, account];

/**
 * The key of a {@linkcode UsageRecord}. It has a hash of the source, since names of models can be too long for a key.
 *
 * @param day Days since 1970, UTC.
 */
export function usageKey(day: number, account: string, { key, model, provider, kind }: UsageSource): Key {
  const source = JSON.stringify([key, model, provider, kind]);
  return [...usageOf(day, account), createHash("sha256").update(source).digest("base64url").slice(0, HASH_CHARACTERS)];
}

/**
 * The stored copy of a past day's {@linkcode UsageRecord}s, which is read faster than the records. A commit that
 * changes a record removes the copy of its day, so a complete copy is always exact.
 */
export interface UsageDay {
  /** Part of the keys of its blocks. */
  readonly generation: string;
  /** The number of blocks in each table; null while they are written. */
  readonly blocks: Readonly<Record<UsageTable, number>> | null;
}

/** The tables of a {@linkcode UsageDay}: every record, or their sums over all accounts and keys. */
export type UsageTable = "records" | "models";

/** A row of a block: account, key, model, provider, kind, cost and counts. The account is empty in `models`. */
export type UsageBlockRow = readonly [string, string | null, string, string, ChargeKind, Money, UsageCounts];

/** The prefix of all {@linkcode UsageDay}s, by day. */
export const USAGE_DAYS: Key = ["usage", "copy"];

/** The key of a {@linkcode UsageDay}. */
export const usageDayKey = (day: number): Key => [...USAGE_DAYS, day];

/** The prefix of the blocks of a day, by generation. */
export const usageBlocksOf = (day: number): Key => ["usage", "block", day];

/** The key of a block: an array of {@linkcode UsageBlockRow}s. */
export const usageBlockKey = (day: number, generation: string, table: UsageTable, place: number): Key => [
  ...usageBlocksOf(day),
  generation,
  table,
  place,
];

/** The key of a {@linkcode UsageCursor}. */
export const usageCursorKey = (account: string): Key => ["usage", "cursor", account];

/** The prefix of what an account spent on each day, as amounts by day. */
export const accountSpentOf = (account: string): Key => ["usage", "account_spent", account];

/** The prefix of what a key spent on each day, as amounts by day. */
export const keySpentOf = (account: string, key: string): Key => ["usage", "key_spent", account, key];

/** The key of the amount that an account has in open holds. */
export const accountHeldKey = (account: string): Key => ["usage", "account_held", account];

/** The key of the amount that a key has in open holds. */
export const keyHeldKey = (account: string, key: string): Key => ["usage", "key_held", account, key];
