import { isDeepStrictEqual } from "node:util";
import { GatewayError, invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import { entriesBelow } from "../../../platform/store/entries_below.ts";
import type { Commit, Store } from "../../../platform/store/store.ts";
import { ACCOUNT_ID_EXPECTATION, isAccountId } from "./account_id.ts";
import { type AccountChanges, changedAccountSettings } from "./key_settings.ts";
import { updateRecord } from "./update_record.ts";
import { addCredit } from "./credit.ts";
import {
  accountKey,
  type AccountRecord,
  ACCOUNTS,
  mergeCommits,
  webhookSecretKey,
  type WebhookSecretRecord,
} from "./records.ts";
import { newWebhookSecret } from "./webhook_secret.ts";
import { missingAccount } from "./missing_account.ts";
import { changedOverdraft } from "./unlimited_balance.ts";

const SCAN_PAGE = 500;
/** Accounts whose records are read together while their balances are read one by one. */
const BALANCE_PAGE = 100;

/** A prepaid account with its balance. */
export interface Account extends AccountRecord {
  /** Can be spent; below minus `overdraft` if calls cost more than they reserved. */
  readonly available: Money;
  /** How far the balance may fall below zero; see {@linkcode isUnlimited}. Absent: not at all. */
  readonly overdraft?: Money;
  /** Reserved by holds for work in progress. */
  readonly held: Money;
}

/** The settings of a new account. */
export interface NewAccount {
  readonly id: string;
  /** Credited once with the reference `opening`. Default: nothing. */
  readonly balance?: Money;
  /** Default: generated. */
  readonly webhookSecret?: string;
  /** Buckets whose objects the account's requests may name. Default: none. */
  readonly allowBuckets?: readonly string[];
  /** Default: none. */
  readonly settings?: AccountChanges;
}

/**
 * Creates an account, its opening credit and its webhook secret in one commit.
 *
 * @returns The account and its webhook secret, which is not shown again.
 * @throws {GatewayError} `invalid_request` naming `id`, or as {@linkcode changedOverdraft}; `conflict` if the account
 * exists.
 */
export async function createAccount(
  store: Store,
  opening: NewAccount,
): Promise<{ account: Account; webhookSecret: string }> {
  const { id, balance = 0n, webhookSecret = newWebhookSecret(), allowBuckets = [], settings = {} } = opening;
  if (!isAccountId(id)) throw invalidField("id", `expected ${ACCOUNT_ID_EXPECTATION}`);
  const record: AccountRecord = {
    id,
    createdAt: store.now(),
    suspendedAt: null,
    ...bucketsOf(allowBuckets),
    ...changedAccountSettings({}, settings),
  };
  const overdraft = changedOverdraft(0n, settings);
  const commit = withOverdraft(openingCommit(record, balance, webhookSecret), id, overdraft);
  const result = await store.commit(null, commit);
  if (!result.ok) {
    throw new GatewayError("conflict", `Cannot create the account "${id}": there is one with this id`, { field: "id" });
  }
  return { account: { ...record, available: balance, held: 0n, ...overdraft && { overdraft } }, webhookSecret };
}

/** Without buckets the field is omitted, as in records from before the setting existed. */
function bucketsOf(allowBuckets: readonly string[]): Pick<AccountRecord, "allowBuckets"> {
  return allowBuckets.length === 0 ? {} : { allowBuckets };
}

function openingCommit(record: AccountRecord, balance: Money, webhookSecret: string): Commit {
  const key = accountKey(record.id);
  const secrets: WebhookSecretRecord = { current: webhookSecret, previous: null };
  const commit: Commit = {
    check: [{ key, version: null }],
    set: [{ key, value: record }, { key: webhookSecretKey(record.id), value: secrets }],
  };
  const credit = { account: record.id, reference: "opening", amount: balance };
  return balance > 0n ? addCredit(commit, credit, record.createdAt) : commit;
}

/**
 * Reads an account with its current balance.
 *
 * @throws {GatewayError} `not_found` if there is no such account.
 */
export async function readAccount(store: Store, id: string): Promise<Account> {
  const [entry] = isAccountId(id) ? await store.get<AccountRecord>([accountKey(id)]) : [null];
  if (!entry) throw await missingAccount(store, id);
  return withBalance(store, entry.value);
}

/** Lists accounts in the order of their ids. `next` is the `after` of the next page, or null. */
export async function listAccounts(
  store: Store,
  page: { readonly after?: string; readonly limit: number },
): Promise<{ accounts: Account[]; next: string | null }> {
  const after = page.after === undefined ? {} : { after: accountKey(page.after) };
  const entries = await store.scan<AccountRecord>(ACCOUNTS, { ...after, limit: page.limit + 1 });
  const accounts = await Promise.all(entries.slice(0, page.limit).map(({ value }) => withBalance(store, value)));
  return { accounts, next: entries.length > page.limit ? accounts.at(-1)?.id ?? null : null };
}

/** All accounts with their balances, in the order of their ids. */
export async function* allBalances(store: Store): AsyncGenerator<Account> {
  for await (const { value } of entriesBelow<AccountRecord>(store, ACCOUNTS, { limit: BALANCE_PAGE })) {
    yield await withBalance(store, value);
  }
}

/** The ids of all accounts, in their order. */
export async function* allAccounts(store: Store): AsyncGenerator<string> {
  for await (const { value } of entriesBelow<AccountRecord>(store, ACCOUNTS, { limit: SCAN_PAGE })) yield value.id;
}

/**
 * Suspends an account: its keys are refused. Suspending it again changes nothing. Call {@linkcode KeyRing.evictAccount}
 * so that it takes effect at once.
 *
 * @throws {GatewayError} `not_found` if there is no such account.
 */
export function suspendAccount(store: Store, id: string): Promise<Account> {
  return changeAccount(
    store,
    id,
    (account) => account.suspendedAt === null ? { ...account, suspendedAt: store.now() } : account,
  );
}

/**
 * Ends an account's suspension. Resuming an active account changes nothing.
 *
 * @throws {GatewayError} `not_found` if there is no such account; `conflict` if it was erased.
 */
export function resumeAccount(store: Store, id: string): Promise<Account> {
  return changeAccount(
    store,
    id,
    (account) => account.suspendedAt === null ? account : { ...refuseErased(account), suspendedAt: null },
  );
}

/**
 * Replaces the buckets whose objects an account's requests may name.
 *
 * @param allowBuckets Bucket prefixes that the caller has checked.
 * @throws {GatewayError} `not_found` if there is no such account; `conflict` if it was erased.
 */
export function setAllowedBuckets(store: Store, id: string, allowBuckets: readonly string[]): Promise<Account> {
  return changeAccount(store, id, (account) => ({ ...refuseErased(account), allowBuckets: [...allowBuckets] }));
}

/**
 * Changes the settings of an account and its overdraft. Call {@linkcode KeyRing.evictAccount} and `Meter.invalidate` so
 * that they take effect at once.
 *
 * @throws {GatewayError} `not_found` if there is no such account; `conflict` if it was erased; as
 * {@linkcode changedOverdraft}.
 */
export async function changeAccountSettings(store: Store, id: string, changes: AccountChanges): Promise<Account> {
  const { overdraft = 0n } = isAccountId(id) ? await store.balance(id) : {};
  const change = withOverdraft({}, id, changedOverdraft(overdraft, changes));
  return await changeAccount(store, id, (account) => {
    refuseErased(account);
    const { name: _name, expiresAt: _at, metadata: _metadata, limits: _limits, capture: _capture, ...rest } = account;
    const { notificationUrl: _url, webhookFormat: _format, promptCaching: _caching, ...facts } = rest;
    const after = { ...facts, ...changedAccountSettings(account, changes) };
    return isDeepStrictEqual(account, after) ? account : after;
  }, change);
}

/** Adds another overdraft to a commit; null changes nothing. */
function withOverdraft(commit: Commit, account: string, overdraft: Money | null): Commit {
  return overdraft === null ? commit : mergeCommits(commit, { setOverdrafts: [{ account, overdraft }] });
}

async function changeAccount(
  store: Store,
  id: string,
  change: (account: AccountRecord) => AccountRecord,
  also: Commit = {},
): Promise<Account> {
  const changed = isAccountId(id) ? await updateRecord(store, accountKey(id), change, also) : null;
  if (!changed) throw await missingAccount(store, id);
  return withBalance(store, changed);
}

async function withBalance(store: Store, record: AccountRecord): Promise<Account> {
  return { ...record, ...await store.balance(record.id) };
}

/**
 * Returns an account that is not erased. Nothing that could identify its customer is added to an erased one.
 *
 * @throws {GatewayError} `conflict` if its erasure has begun.
 */
export function refuseErased<A extends Pick<AccountRecord, "erasure">>(account: A): A {
  if (account.erasure === undefined) return account;
  throw new GatewayError("conflict", "Cannot change the account: it was erased; create one with another id");
}
