import type { Money } from "../../../platform/lib/basics/money.ts";
import type { Commit, Key } from "../../../platform/store/store.ts";
import type { AccountSettings, KeySettings } from "./key_settings.ts";

/** An account as it is stored, without its balance. */
export interface AccountRecord extends AccountSettings {
  readonly id: string;
  /** Unix milliseconds, as every `…At` here. */
  readonly createdAt: number;
  /** Since when its keys are refused; null while it is active. */
  readonly suspendedAt: number | null;
  /** Buckets whose objects its requests may name, such as `gs://acme-media/`. Default: none. */
  readonly allowBuckets?: readonly string[];
  /** Present from the beginning of its erasure. */
  readonly erasure?: AccountErasure;
}

/** The removal of everything that identifies an account. */
export interface AccountErasure {
  readonly begunAt: number;
  /** Null until everything is removed. */
  readonly endedAt: number | null;
}

/** An API key as it is stored: a hash, never the secret. */
export interface KeyRecord extends KeySettings {
  readonly id: string;
  readonly account: string;
  /** The SHA-256 of the whole secret, hexadecimal. */
  readonly hash: string;
  /** The first twelve characters of the secret, to recognise a key in a list. */
  readonly prefix: string;
  readonly createdAt: number;
  /** Accurate to an hour; null before the first use. */
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

/** Maps the hash of a secret to its key. */
export interface KeyOwnerRecord {
  readonly account: string;
  readonly id: string;
}

/** A credit, stored so that its reference is never credited twice. */
export interface CreditRecord {
  readonly amount: Money;
  readonly at: number;
}

/** An adjustment, stored so that its reference is never applied twice. */
export interface AdjustmentRecord {
  readonly amount: Money;
  readonly reason: string;
  readonly at: number;
}

/** A hold: `open`, then once `captured` or `released`. */
export interface HoldRecord {
  readonly account: string;
  readonly amount: Money;
  readonly state: "open" | "captured" | "released";
  /** The amount taken at the end, which may exceed the hold; zero unless captured. */
  readonly captured: Money;
  readonly openedAt: number;
  readonly resolvedAt: number | null;
}

/** The secrets that sign an account's webhooks. */
export interface WebhookSecretRecord {
  readonly current: string;
  /** The secret before the last rotation, which receivers may use until then. */
  readonly previous: { readonly secret: string; readonly until: number } | null;
}

/** The prefix of all accounts, in the order of their ids. */
export const ACCOUNTS: Key = ["billing", "account"];

/** The prefix of accounts that were erased in the last minutes, which other processes look for. */
export const ERASED_ACCOUNTS: Key = ["billing", "erased"];

/** The key of an {@linkcode AccountRecord}. */
export const accountKey = (account: string): Key => [...ACCOUNTS, account];

/** The prefix of all keys, by account. */
export const KEYS: Key = ["billing", "key"];

/** The prefix of an account's keys, oldest first. */
export const keysOf = (account: string): Key => [...KEYS, account];

/** The key of a {@linkcode KeyRecord}. */
export const keyKey = (account: string, id: string): Key => [...keysOf(account), id];

/** The key of a {@linkcode KeyOwnerRecord}. */
export const keyOwnerKey = (hash: string): Key => ["billing", "key_owner", hash];

/** The key of a {@linkcode CreditRecord}. */
export const creditKey = (account: string, reference: string): Key => ["billing", "credit", account, reference];

/** The key of an {@linkcode AdjustmentRecord}. */
export const adjustmentKey = (account: string, reference: string): Key => [
  "billing",
  "adjustment",
  account,
  reference,
];

/** The key of a {@linkcode HoldRecord}. */
export const holdKey = (reference: string): Key => ["billing", "hold", reference];

/** The owner of the secret that signs notifications to the operator. No account can have this id. */
export const OPERATOR = "*";

/** The key of a {@linkcode WebhookSecretRecord}, of an account or of {@linkcode OPERATOR}. */
export const webhookSecretKey = (account: string): Key => ["billing", "webhook_secret", account];

/** Merges two commits; the parts of the first come first. */
export function mergeCommits(first: Commit, second: Commit): Commit {
  return {
    check: [...first.check ?? [], ...second.check ?? []],
    set: [...first.set ?? [], ...second.set ?? []],
    delete: [...first.delete ?? [], ...second.delete ?? []],
    changeBalances: [...first.changeBalances ?? [], ...second.changeBalances ?? []],
    setOverdrafts: [...first.setOverdrafts ?? [], ...second.setOverdrafts ?? []],
    ledgerEntries: [...first.ledgerEntries ?? [], ...second.ledgerEntries ?? []],
    addJobs: [...first.addJobs ?? [], ...second.addJobs ?? []],
    completeJobs: [...first.completeJobs ?? [], ...second.completeJobs ?? []],
    postponeJobs: [...first.postponeJobs ?? [], ...second.postponeJobs ?? []],
  };
}
