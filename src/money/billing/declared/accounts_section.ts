import * as z from "zod";
import { type Money, readMoney } from "../../../platform/lib/basics/money.ts";
import { setting } from "../../../platform/lib/settings/setting.ts";
import { secret } from "../../../platform/lib/settings/settings.ts";
import { KEPT } from "../../limits/access_settings.ts";
import { ACCOUNT_ID_EXPECTATION, isAccountId } from "../accounts/account_id.ts";
import { isWellFormedKey, KEY_EXPECTATION } from "../keys/api_key.ts";
import { bucketsSchema } from "./buckets_schema.ts";
import type { ConfiguredAccount } from "./configured_accounts.ts";
import type { BalanceKind } from "../accounts/key_settings.ts";
import { ACCOUNT_FIELDS, KEY_FIELDS } from "./setting_fields.ts";
import { hasTwoLimits, NO_OVERDRAFT, PREPAID, UNLIMITED } from "../accounts/unlimited_balance.ts";
import { MIN_SECRET_CHARACTERS } from "../accounts/webhook_secret.ts";

const KEY_SECRET = z.string("a key, or a section with it").refine(isWellFormedKey, KEY_EXPECTATION);

const KEY = z.union([
  KEY_SECRET,
  z.strictObject({
    key: setting(KEY_SECRET, {
      isSecret: true,
      text: "An API key; a plain text in place of the section is a key as well",
      example: "${CI_KEY}",
    }),
    ...KEY_FIELDS,
  }).transform(({ key: secret, ...settings }) => ({
    secret,
    settings,
  })),
], "a key, or a section with it");

/** Duplicate ids and keys are refused by the reader of the whole configuration, which knows their positions. */
const Accounts = z.array(
  z.strictObject({
    id: setting(z.string().refine(isAccountId, ACCOUNT_ID_EXPECTATION), {
      text: "The id, which never changes",
      example: "acme",
    }),
    balance: setting(z.string().transform(readBalance).optional(), {
      text: "Credited once, when the account is created; `unlimited`: charged [without a limit](money.md#unlimited)",
      example: "25.00",
      otherwise: "nothing",
    }),
    keys: z.array(KEY).default([]),
    webhook_secret: setting(secret(MIN_SECRET_CHARACTERS), {
      default: null,
      text: "Signs the events of the account, from its creation",
      example: "${DEMO_WEBHOOK_SECRET}",
      otherwise: "generated, shown once",
    }),
    allow_buckets: setting(bucketsSchema().optional(), {
      text: "Buckets that its requests may name: [isolation](isolation.md)",
      example: ["gs://acme-media/"],
      otherwise: KEPT,
    }),
    ...ACCOUNT_FIELDS,
  }).transform((
    { id, balance: { amount, kind } = NO_BALANCE, keys, webhook_secret: given, allow_buckets: allowBuckets, ...rest },
    context,
  ) => {
    const settings = { ...kind !== undefined && { balance: kind }, ...rest };
    if (hasTwoLimits(settings)) context.addIssue({ code: "custom", path: ["overdraft"], message: NO_OVERDRAFT });
    return {
      id,
      balance: amount,
      keys,
      ...given === null ? {} : { webhookSecret: given },
      ...allowBuckets === undefined ? {} : { allowBuckets },
      ...Object.keys(settings).length === 0 ? {} : { settings },
    };
  }),
);

/** An opening balance. An account whose amount the file declares is prepaid. */
interface OpeningBalance {
  readonly amount: Money;
  /** Absent if the file declares no balance. */
  readonly kind?: BalanceKind;
}

const NO_BALANCE: OpeningBalance = { amount: 0n };

/** The `accounts` section of the configuration, read strictly. Its messages continue after "expected". */
export const configuredAccountsSchema: z.ZodType<ConfiguredAccount[]> = Accounts.default([]);

function readBalance(text: string, context: z.RefinementCtx): OpeningBalance {
  if (text === UNLIMITED) return { amount: 0n, kind: UNLIMITED };
  try {
    const amount = readMoney(text);
    if (amount >= 0n) return { amount, kind: PREPAID };
  } catch { /* reported below */ }
  context.addIssue('a decimal amount in USD, such as "25.00", or "unlimited"');
  return z.NEVER;
}
