import * as z from "zod";
import { type Money, readMoney } from "../lib/money.ts";
import { optional, secret } from "../lib/settings.ts";
import type { Store } from "../store/store.ts";
import { changeAccountSettings, createAccount, setAllowedBuckets } from "./account.ts";
import { ACCOUNT_ID_EXPECTATION, isAccountId } from "./account_id.ts";
import { bucketsSchema } from "./bucket_prefix.ts";
import { hashOfKey, isWellFormedKey, KEY_EXPECTATION } from "./api_key.ts";
import { addKey, changeKey, keyRecordOf } from "./issued_key.ts";
import { ACCOUNT_FIELDS, type AccountChanges, KEY_FIELDS, type KeyChanges } from "./key_settings.ts";
import { accountKey, type AccountRecord, keyOwnerKey, type KeyOwnerRecord } from "./records.ts";
import { MIN_SECRET_CHARACTERS } from "./webhook_secret.ts";

/** An account in the operator's configuration. Source: docs/configuration.md#every-option. */
export interface ConfiguredAccount {
  readonly id: string;
  /** The file and the path that declare it: `switchyard.yaml: accounts[0]`. Absent if no file does. */
  readonly declaredAt?: string;
  /** Credited once, when the account is created. */
  readonly balance: Money;
  /** Secrets of 16 to 256 visible ASCII characters, or such a secret with its settings. */
  readonly keys: readonly (string | ConfiguredKey)[];
  /** Default: generated. */
  readonly webhookSecret?: string;
  /** Set at every start. Default: the setting of the admin API is kept. */
  readonly allowBuckets?: readonly string[];
  /** Set at every start: given fields are set or, if null, removed. Default: those of the admin API are kept. */
  readonly settings?: AccountChanges;
}

/** A key in the operator's configuration, with its settings, which are set at every start. */
export interface ConfiguredKey {
  readonly secret: string;
  /** Fields that are given are set or, if null, removed. Others keep the value of the admin API. */
  readonly settings: KeyChanges;
}

/** What a start created. */
export interface EnsuredAccounts {
  readonly created: readonly {
    readonly id: string;
    /** To be shown once; null if it came from the configuration. */
    readonly generatedWebhookSecret: string | null;
  }[];
  readonly keysAdded: number;
}

const KEY_SECRET = z.string("a key, or a section with it").refine(isWellFormedKey, KEY_EXPECTATION);

const KEY = z.union([
  KEY_SECRET,
  z.strictObject({ key: KEY_SECRET, ...KEY_FIELDS }).transform(({ key: secret, ...settings }) => ({
    secret,
    settings,
  })),
], "a key, or a section with it");

/** Duplicate ids and keys are refused by the reader of the whole configuration, which knows their positions. */
const Accounts = z.array(
  z.strictObject({
    id: z.string().refine(isAccountId, ACCOUNT_ID_EXPECTATION),
    balance: z.string().default("0").transform(readBalance),
    keys: z.array(KEY).default([]),
    webhook_secret: optional(secret(MIN_SECRET_CHARACTERS)),
    allow_buckets: bucketsSchema().optional(),
    ...ACCOUNT_FIELDS,
  }).transform(({ id, balance, keys, webhook_secret: given, allow_buckets: allowBuckets, ...settings }) => ({
    id,
    balance,
    keys,
    ...given === null ? {} : { webhookSecret: given },
    ...allowBuckets === undefined ? {} : { allowBuckets },
    ...Object.keys(settings).length === 0 ? {} : { settings },
  })),
);

/** The `accounts` section of the configuration, read strictly. Its messages continue after "expected". */
export const configuredAccountsSchema: z.ZodType<ConfiguredAccount[]> = Accounts;

function readBalance(text: string, context: z.RefinementCtx): Money {
  try {
    const balance = readMoney(text);
    if (balance >= 0n) return balance;
  } catch { /* reported below */ }
  context.addIssue('a decimal amount in USD, such as "25.00"');
  return z.NEVER;
}

/**
 * Creates missing accounts with their opening balance, and adds missing keys. Existing accounts and keys are not
 * changed, apart from the buckets and settings in the configuration: no balance is credited again, no revoked key is
 * restored, no secret changes. Erased accounts stay as they are.
 *
 * @throws {Error} If a key belongs to another account.
 */
export async function ensureConfiguredAccounts(
  store: Store,
  accounts: readonly ConfiguredAccount[],
): Promise<EnsuredAccounts> {
  const created = [];
  let keysAdded = 0;
  for (const { id, balance, webhookSecret, keys, allowBuckets, settings } of accounts) {
    const [existing] = await store.get<AccountRecord>([accountKey(id)]);
    if (existing?.value.erasure !== undefined) continue;
    if (!existing) {
      const opened = await createAccount(store, {
        id,
        balance,
        ...webhookSecret !== undefined && { webhookSecret },
        ...allowBuckets !== undefined && { allowBuckets },
        ...settings !== undefined && { settings },
      });
      created.push({ id, generatedWebhookSecret: webhookSecret === undefined ? opened.webhookSecret : null });
    } else {
      if (allowBuckets !== undefined) await setAllowedBuckets(store, id, allowBuckets);
      if (settings !== undefined) await changeAccountSettings(store, id, settings);
    }
    for (const key of keys) {
      if (await ensureKey(store, id, typeof key === "string" ? { secret: key, settings: {} } : key)) keysAdded++;
    }
  }
  return { created, keysAdded };
}

async function ensureKey(store: Store, account: string, { secret, settings }: ConfiguredKey): Promise<boolean> {
  const [owner] = await store.get<KeyOwnerRecord>([keyOwnerKey(hashOfKey(secret))]);
  if (owner && owner.value.account !== account) {
    throw new Error(`Cannot use one key for two accounts: "${owner.value.account}" and "${account}"`);
  }
  if (owner) {
    await changeKey(store, account, owner.value.id, settings);
    return false;
  }
  const result = await store.commit(null, addKey({}, keyRecordOf(secret, account, store.now(), settings)));
  if (!result.ok) throw new Error(`Cannot store a key of account "${account}": ${result.why}`);
  return true;
}
