import * as z from "zod";
import { ENDPOINT_NAMES } from "../../platform/endpoints/limit_name.ts";
import { type Money, readMoney } from "../../platform/lib/basics/money.ts";
import { isProviderName, PROVIDER_NAME_EXPECTATION } from "../../platform/names/provider_name.ts";
import { isDate } from "../../platform/lib/text/iso_date.ts";
import { setting } from "../../platform/lib/settings/setting.ts";
import { wholeNumber } from "../../platform/lib/settings/settings.ts";
import { isCidr } from "../../platform/net/address.ts";
import type { CaptureSetting, PromptCachingSetting, WebhookFormat } from "./access_limits.ts";

/**
 * The limits of keys and accounts as operators write them, in the configuration and in the admin API. The error text of
 * every schema is a noun phrase that continues "expected".
 */

/** Keeps the record of a key far below the maximum size of a stored value. */
const MAX_ITEMS = 100;
const MAX_MODEL_CHARACTERS = 200;
const MAX_NAME_CHARACTERS = 100;
const MAX_METADATA_ENTRIES = 16;
const MAX_METADATA_CHARACTERS = 256;
/** The end of the year 9999. */
const MAX_SECONDS = 253_402_300_799;
/** The largest rate that can be set. */
const MAX_RATE = 1_000_000_000;

const MODEL = /^[A-Za-z0-9@_~*][A-Za-z0-9._:@+~/*-]*$/;
const METADATA_KEY = /^[A-Za-z0-9._-]{1,64}$/;
const MODEL_EXPECTATION = 'the id of a model, an alias, or a pattern of ids such as "openai/*"';
const ADDRESS_EXPECTATION = 'an address or a block of addresses, such as "10.0.0.0/8"';
const BUDGET_EXPECTATION = 'a budget, such as {"amount": "20.00", "per": "month"}';
const AMOUNT_EXPECTATION = 'a decimal amount in USD above zero, such as "20.00"';
const PERIOD_EXPECTATION = "one of day, week, month, total";
const ENDPOINT_EXPECTATION = `one of ${ENDPOINT_NAMES.join(", ")}`;
const INSTANT_EXPECTATION = 'a time, such as "2027-01-31", "2027-01-31T12:00:00Z" or whole Unix seconds';
const CAPTURE_EXPECTATION = "one of none, errors, all";
const PROMPT_CACHING_EXPECTATION = "one of auto, off";
const WEBHOOK_FORMAT_EXPECTATION = "one of service, openai";
const NAME_EXPECTATION = `1 to ${MAX_NAME_CHARACTERS} characters on one line`;
const METADATA_EXPECTATION = `at most ${MAX_METADATA_ENTRIES} short texts by name, such as {"team": "search"}`;
const METADATA_KEY_EXPECTATION = "a name of 1 to 64 letters, digits and . _ -";
const METADATA_VALUE_EXPECTATION = `text of at most ${MAX_METADATA_CHARACTERS} characters on one line`;

/** The effect of leaving a setting of a key or an account out. */
export const KEPT = "what the admin API set";

/**
 * The fields of `AccessLimits`, by the names that operators use. Null removes a limit; a missing field keeps it.
 *
 * @param whose A key or an account.
 */
export function accessLimitFields(whose: string) {
  return {
    models: setting(listOf(z.string(MODEL_EXPECTATION).refine(isModelEntry, MODEL_EXPECTATION)).nullish(), {
      text: "The models that may be used: ids, aliases, patterns with `*`",
      example: ["openai/*", "fast"],
      otherwise: KEPT,
    }),
    endpoints: setting(listOf(z.enum(ENDPOINT_NAMES, ENDPOINT_EXPECTATION)).nullish(), {
      text: "The [endpoints](api/admin.md#endpoints-of-limits) that may be called",
      example: ["chat_completions"],
      otherwise: KEPT,
    }),
    providers: setting(
      listOf(z.string(PROVIDER_NAME_EXPECTATION).refine(isProviderName, PROVIDER_NAME_EXPECTATION)).nullish(),
      { text: "The providers that may be used", example: ["openai"], otherwise: KEPT },
    ),
    ip_allow: setting(listOf(z.string(ADDRESS_EXPECTATION).refine(isCidr, ADDRESS_EXPECTATION)).nullish(), {
      text: "Addresses and networks that requests may come from",
      example: ["10.0.0.0/8"],
      otherwise: KEPT,
    }),
    rpm: setting(wholeNumber(1, MAX_RATE, "requests per minute").nullish(), {
      text: `Requests of ${whose} per minute`,
      example: 60,
      otherwise: KEPT,
    }),
    tpm: setting(wholeNumber(1, MAX_RATE, "tokens per minute").nullish(), {
      text: `Tokens of ${whose} per minute`,
      example: 100000,
      otherwise: KEPT,
    }),
    concurrency: setting(wholeNumber(1, 1_000_000, "requests at one time").nullish(), {
      text: `Requests of ${whose} at one time`,
      example: 4,
      otherwise: KEPT,
    }),
    budget: z.strictObject({
      amount: setting(z.preprocess(textOf, z.string(AMOUNT_EXPECTATION)).transform(readAmount), {
        text: `The most that ${whose} spends in a period`,
        example: "20.00",
      }),
      per: setting(z.enum(["day", "week", "month", "total"], PERIOD_EXPECTATION), {
        text: "The period, in UTC; weeks begin on Monday",
      }),
    }, { error: (issue) => issue.code === "invalid_type" ? BUDGET_EXPECTATION : undefined }).nullish(),
  };
}

/** The fields of {@linkcode accessLimitFields}. */
export type AccessLimitFields = ReturnType<typeof accessLimitFields>;

/** The schema of `capture`: which requests have their bodies kept. */
export const CAPTURE_FIELD: z.ZodType<CaptureSetting> = z.enum(["none", "errors", "all"], CAPTURE_EXPECTATION);

/** The schema of `prompt_caching` of a key, an account, a model or a provider. */
export const PROMPT_CACHING_FIELD: z.ZodType<PromptCachingSetting> = z.enum(
  ["auto", "off"],
  PROMPT_CACHING_EXPECTATION,
);

/** The schema of `webhook_format` of an account. */
export const WEBHOOK_FORMAT_FIELD: z.ZodType<WebhookFormat> = z.enum(
  ["service", "openai"],
  WEBHOOK_FORMAT_EXPECTATION,
);

/** The schema of the name of a key or an account. */
export const NAME_FIELD: z.ZodType<string> = z.string(NAME_EXPECTATION)
  .min(1, NAME_EXPECTATION).max(MAX_NAME_CHARACTERS, NAME_EXPECTATION).refine(isOneLine, NAME_EXPECTATION);

/** The schema of `metadata`: facts of the operator about a key. */
export const METADATA_FIELD: z.ZodType<Record<string, string>> = z.record(
  z.string().regex(METADATA_KEY, METADATA_KEY_EXPECTATION),
  z.string(METADATA_VALUE_EXPECTATION).max(MAX_METADATA_CHARACTERS, METADATA_VALUE_EXPECTATION)
    .refine(isOneLine, METADATA_VALUE_EXPECTATION),
  METADATA_EXPECTATION,
).refine((metadata) => Object.keys(metadata).length <= MAX_METADATA_ENTRIES, METADATA_EXPECTATION);

/** The schema of an instant such as `expires_at`, converted to Unix milliseconds. */
export const INSTANT_FIELD: z.ZodType<number> = z.preprocess(
  secondsIn,
  z.int(INSTANT_EXPECTATION).min(0, INSTANT_EXPECTATION).max(MAX_SECONDS, INSTANT_EXPECTATION),
).transform((seconds) => seconds * 1_000);

/** The schema of `overdraft`: how far the balance of an account may fall below zero. */
export const OVERDRAFT_FIELD: z.ZodType<Money> = z.preprocess(textOf, z.string(overdraftExpectation()))
  .transform((text, context) => {
    const amount = amountIn(text);
    if (amount !== null && amount >= 0n) return amount;
    context.addIssue(overdraftExpectation());
    return z.NEVER;
  });

/** Whether a text can be in `models`. A pattern that no id can match is refused, as every id has a provider part. */
function isModelEntry(text: string): boolean {
  if (text.length > MAX_MODEL_CHARACTERS || !MODEL.test(text)) return false;
  return !text.includes("*") || text.includes("/") || text.startsWith("*");
}

function secondsIn(value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (/^\d{1,12}$/.test(value)) return Number(value);
  return isDate(value) ? Date.parse(value) / 1_000 : value;
}

function isOneLine(text: string): boolean {
  return !/\p{Cc}/u.test(text);
}

function listOf<T>(item: z.ZodType<T>): z.ZodType<T[]> {
  const expectation = `a list of 1 to ${MAX_ITEMS} without repetitions; null for no limit`;
  return z.array(item, expectation).min(1, expectation).max(MAX_ITEMS, expectation)
    .refine((items) => new Set(items).size === items.length, expectation);
}

/** An amount that YAML or JSON reads as a number. Its shortest decimal form is what was written. */
function textOf(value: unknown): unknown {
  return typeof value === "number" ? String(value) : value;
}

function readAmount(text: string, context: z.RefinementCtx): Money {
  const amount = amountIn(text);
  if (amount !== null && amount > 0n) return amount;
  context.addIssue(AMOUNT_EXPECTATION);
  return z.NEVER;
}

function amountIn(text: string): Money | null {
  try {
    return readMoney(text);
  } catch {
    return null;
  }
}

function overdraftExpectation(): string {
  return 'a decimal amount in USD from zero, such as "5.00"';
}
