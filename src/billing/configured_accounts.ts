import * as z from "zod";
import { type Money, readMoney } from "../lib/money.ts";
import { optional, secret } from "../lib/settings.ts";
import type { Store } from "../store/store.ts";
import { createAccount, setAllowedBuckets } from "./account.ts";
import { ACCOUNT_ID_EXPECTATION, isAccountId } from "./account_id.ts";
import { bucketsSchema } from "./bucket_prefix.ts";
import { hashOfKey, isWellFormedKey, KEY_EXPECTATION } from "./api_key.ts";
import { addKey, keyRecordOf } from "./issued_key.ts";
import { accountKey, keyOwnerKey, type KeyOwnerRecord } from "./records.ts";
import { MIN_SECRET_CHARACTERS } from "./webhook_secret.ts";

/** An account in the operator's configuration. Source: docs/configuration.md#every-option. */
export interface ConfiguredAccount {
  readonly id: string;
  /** Credited once, when the account is created. */
  readonly balance: Money;
  /** Secrets: each 16 to 256 visible ASCII characters. */
  readonly keys: readonly string[];
  /** Default: generated. */
  readonly webhookSecret?: string;
  /** Set at every start. Default: the setting of the admin API is kept. */
  readonly allowBuckets?: readonly string[];
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

/** Duplicate ids and keys are refused by the reader of the whole configuration, which knows their positions. */
const Accounts = z.array(
  z.strictObject({
    id: z.string().refine(isAccountId, ACCOUNT_ID_EXPECTATION),
    balance: z.string().default("0").transform(readBalance),
    keys: z.array(z.string().refine(isWellFormedKey, KEY_EXPECTATION)).default([]),
    webhook_secret: optional(secret(MIN_SECRET_CHARACTERS)),
    allow_buckets: bucketsSchema().optional(),
  }).transform(({ webhook_secret: given, allow_buckets: allowBuckets, ...account }) => ({
    ...account,
    ...given === null ? {} : { webhookSecret: given },
    ...allowBuckets === undefined ? {} : { allowBuckets },
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
 * Creates missing accounts with their opening balance, and adds missing keys. Existing accounts are not changed, apart
 * from the buckets in the configuration: no balance is credited again, no revoked key is restored, no secret changes.
 *
 * @throws {Error} If a key belongs to another account.
 */
export async function ensureConfiguredAccounts(
  store: Store,
  accounts: readonly ConfiguredAccount[],
): Promise<EnsuredAccounts> {
  const created = [];
  let keysAdded = 0;
  for (const { id, balance, webhookSecret, keys, allowBuckets } of accounts) {
    const [existing] = await store.get([accountKey(id)]);
    if (!existing) {
      const opening = { id, balance, ...(webhookSecret !== undefined && { webhookSecret }) };
      const opened = await createAccount(store, { ...opening, ...(allowBuckets !== undefined && { allowBuckets }) });
      created.push({ id, generatedWebhookSecret: webhookSecret === undefined ? opened.webhookSecret : null });
    } else if (allowBuckets !== undefined) {
      await setAllowedBuckets(store, id, allowBuckets);
    }
    for (const secret of keys) if (await ensureKey(store, id, secret)) keysAdded++;
  }
  return { created, keysAdded };
}

async function ensureKey(store: Store, account: string, secret: string): Promise<boolean> {
  const [owner] = await store.get<KeyOwnerRecord>([keyOwnerKey(hashOfKey(secret))]);
  if (owner && owner.value.account !== account) {
    throw new Error(`Cannot use one key for two accounts: "${owner.value.account}" and "${account}"`);
  }
  if (owner) return false;
  const result = await store.commit(null, addKey({}, keyRecordOf(secret, account, store.now())));
  if (!result.ok) throw new Error(`Cannot store a key of account "${account}": ${result.why}`);
  return true;
}
