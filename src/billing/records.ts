import type { Money } from "../lib/money.ts";
import type { Commit, Key } from "../store/store.ts";

/** An account as stored; its money is the store's own. */
export interface AccountRecord {
  readonly id: string;
  /** Unix milliseconds, as every `…At` here. */
  readonly createdAt: number;
  /** Since when its keys are refused; null while it is active. */
  readonly suspendedAt: number | null;
  /** Buckets whose objects its requests may name, as `gs://acme-media/`; left out: none. */
  readonly allowBuckets?: readonly string[];
}

/** An API key as stored: never the secret, only what recognises it. */
export interface KeyRecord {
  readonly id: string;
  readonly account: string;
  /** SHA-256 of the whole secret, hexadecimal. */
  readonly hash: string;
  /** The secret's first twelve characters, for people who look for one in a list. */
  readonly prefix: string;
  readonly createdAt: number;
  /** Within an hour of the last use; null before the first. */
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

/** Leads from a secret's hash to its key. */
export interface KeyOwnerRecord {
  readonly account: string;
  readonly id: string;
}

/** A credit that was given, so that the same reference never gives it twice. */
export interface CreditRecord {
  readonly amount: Money;
  readonly at: number;
}

/** An adjustment that was made, so that the same reference never makes it twice. */
export interface AdjustmentRecord {
  readonly amount: Money;
  readonly reason: string;
  readonly at: number;
}

/** Money set aside. `open` goes to `captured` or to `released`, once. */
export interface HoldRecord {
  readonly account: string;
  readonly amount: Money;
  readonly state: "open" | "captured" | "released";
  /** What was taken in the end, which may be more than was held; zero unless captured. */
  readonly captured: Money;
  readonly openedAt: number;
  readonly resolvedAt: number | null;
}

/** What an account's webhooks are signed with. */
export interface WebhookSecretRecord {
  readonly current: string;
  /** The secret before the last rotation, which receivers may still check by until then. */
  readonly previous: { readonly secret: string; readonly until: number } | null;
}

/** Below it stand all accounts, in the order of their ids. */
export const ACCOUNTS: Key = ["billing", "account"];

/** Where an {@linkcode AccountRecord} stands. */
export const accountKey = (account: string): Key => [...ACCOUNTS, account];

/** Below it stand an account's keys, oldest first. */
export const keysOf = (account: string): Key => ["billing", "key", account];

/** Where a {@linkcode KeyRecord} stands. */
export const keyKey = (account: string, id: string): Key => [...keysOf(account), id];

/** Where the {@linkcode KeyOwnerRecord} of a secret's hash stands. */
export const keyOwnerKey = (hash: string): Key => ["billing", "key_owner", hash];

/** Where a {@linkcode CreditRecord} stands. */
export const creditKey = (account: string, reference: string): Key => ["billing", "credit", account, reference];

/** Where an {@linkcode AdjustmentRecord} stands. */
export const adjustmentKey = (account: string, reference: string): Key => [
  "billing",
  "adjustment",
  account,
  reference,
];

/** Where a {@linkcode HoldRecord} stands. */
export const holdKey = (reference: string): Key => ["billing", "hold", reference];

/** Where a {@linkcode WebhookSecretRecord} stands. */
export const webhookSecretKey = (account: string): Key => ["billing", "webhook_secret", account];

/** Both commits as one; what stands in the first comes first. */
export function mergeCommits(first: Commit, second: Commit): Commit {
  return {
    check: [...first.check ?? [], ...second.check ?? []],
    set: [...first.set ?? [], ...second.set ?? []],
    delete: [...first.delete ?? [], ...second.delete ?? []],
    changeBalances: [...first.changeBalances ?? [], ...second.changeBalances ?? []],
    ledgerEntries: [...first.ledgerEntries ?? [], ...second.ledgerEntries ?? []],
    addJobs: [...first.addJobs ?? [], ...second.addJobs ?? []],
    completeJobs: [...first.completeJobs ?? [], ...second.completeJobs ?? []],
    postponeJobs: [...first.postponeJobs ?? [], ...second.postponeJobs ?? []],
  };
}
