import * as z from "zod";
import type {
  Account as ConsoleAccount,
  AccountKey as ConsoleKey,
  LedgerEntry as ConsoleLedgerEntry,
} from "../../../src/console/client/shapes.ts";
import { about, seconds, usd, written } from "../schema.ts";
import { LIMITS, LimitsLeft } from "./own.ts";

const account = {
  id: z.string(),
  name: z.string().nullable(),
  status: z.enum(["active", "suspended", "erasing", "erased"]),
  created_at: seconds(),
  erased_at: seconds().exactOptional(),
  allow_buckets: z.array(z.string()),
  balance: usd("What can be spent"),
  held: usd("Set aside for videos"),
  overdraft: usd("How far the balance may fall below zero"),
  unlimited: about(z.boolean(), "Whether requests are charged whatever the balance is."),
  expires_at: about(z.int().nullable(), "Unix seconds."),
  ...LIMITS,
  metadata: z.record(z.string(), z.string()),
  capture: z.enum(["none", "errors", "all"]),
  prompt_caching: z.enum(["auto", "off"]),
  notification_url: about(z.string().nullable(), "Gets the notifications about the account."),
  webhook_format: z.enum(["service", "openai"]),
};

const forecast = z.object({
  spent_per_day: usd("The present rate"),
  lasts_until: about(z.int().nullable(), "Unix seconds: when nothing is left at this rate; null for never."),
});

/** An account. */
export const Account = written<ConsoleAccount>()(z.object(account)).meta({ id: "Account" });

/** An account with what its limits have left, and how long its balance lasts. */
export const AccountWithLeft = z.object({ ...account, left: LimitsLeft, forecast }).meta({ id: "AccountWithLeft" });

const secret = () => about(z.string(), "Signs webhooks. Shown only once.");

/** A new account. */
export const NewAccount = z.object({ ...account, webhook_secret: secret() }).meta({ id: "CreatedAccount" });

/** An account after a change of its balance. */
export const ChangedBalance = z.object({
  ...account,
  reference: z.string(),
  replayed: about(z.boolean(), "Whether the reference was used before, so that nothing changed."),
}).meta({ id: "ChangedBalance" });

/** A new webhook secret. */
export const WebhookSecret = z.object({ account: z.string(), webhook_secret: secret() }).meta({ id: "WebhookSecret" });

/** What an erasure removed. */
export const Erasure = z.object({
  id: z.string(),
  status: z.literal("erased"),
  erased_at: seconds(),
  removed: z.object({
    requests: z.int().nullable(),
    tasks: z.int(),
    files: z.int(),
    deliveries: z.int(),
    cached_contents: z.int(),
    idempotency_keys: z.int(),
    kept_replies: z.int(),
    keys: z.int(),
    audit_entries: z.int(),
    config_versions: z.int(),
  }),
}).meta({ id: "Erasure" });

const instant = () => about(z.int().nullable(), "Unix seconds.");

const key = {
  id: z.string(),
  account: z.string(),
  name: z.string().nullable(),
  prefix: about(z.string(), "The start of the key, for people."),
  created_at: seconds(),
  last_used_at: instant(),
  revoked_at: instant(),
  expires_at: instant(),
  ...LIMITS,
  metadata: z.record(z.string(), z.string()),
  capture: z.enum(["none", "errors", "all"]).nullable(),
  prompt_caching: z.enum(["auto", "off"]).nullable(),
};

/** A key. */
export const AccountKey = written<ConsoleKey>()(z.object(key)).meta({ id: "AccountKey" });

/** A key with what its limits have left. */
export const KeyWithLeft = z.object({ ...key, left: z.object({ key: LimitsLeft, account: LimitsLeft }) })
  .meta({ id: "KeyWithLeft" });

const keySecret = () => about(z.string(), "The key itself. Shown only once.");

/** A new key. */
export const NewKey = z.object({ ...key, secret: keySecret() }).meta({ id: "IssuedKey" });

/** A new key in place of another. */
export const RotatedKey = z.object({ ...key, secret: keySecret(), replaced: AccountKey }).meta({ id: "RotatedKey" });

/** An entry of a ledger. */
export const LedgerEntry = written<ConsoleLedgerEntry>()(z.object({
  id: z.string(),
  created_at: seconds(),
  operation: z.enum(["credit", "adjust", "charge", "hold", "capture", "release"]),
  reference: z.string(),
  balance: usd("The change of the balance"),
  held: usd("The change of what is held"),
  requests: about(
    z.array(z.object({
      request_id: z.string(),
      created_at: seconds(),
      key: z.string().nullable(),
      kind: z.string(),
      model: z.string(),
      provider: z.string(),
      cost: usd(),
      usage: z.record(z.string(), z.unknown()),
    })),
    "The requests of a charge.",
  ).exactOptional(),
  detail: z.looseObject({ reason: z.string().exactOptional(), model: z.string().exactOptional() }).exactOptional(),
})).meta({ id: "LedgerEntry" });
