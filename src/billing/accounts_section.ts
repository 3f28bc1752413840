import * as z from "zod";
import { type Money, readMoney } from "../lib/money.ts";
import { optional, secret } from "../lib/settings.ts";
import { ACCOUNT_ID_EXPECTATION, isAccountId } from "./account_id.ts";
import { isWellFormedKey, KEY_EXPECTATION } from "./api_key.ts";
import { bucketsSchema } from "./buckets_schema.ts";
import type { ConfiguredAccount } from "./configured_accounts.ts";
import { ACCOUNT_FIELDS, KEY_FIELDS } from "./setting_fields.ts";
import { MIN_SECRET_CHARACTERS } from "./webhook_secret.ts";

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
