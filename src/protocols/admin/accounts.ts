import * as z from "zod";
import {
  changeAccountSettings,
  createAccount,
  listAccounts,
  readAccount,
  refuseErased,
  resumeAccount,
  setAllowedBuckets,
  suspendAccount,
} from "../../money/billing/accounts/account.ts";
import { adjustAccount, isAdjustmentReason, MAX_REASON_CHARACTERS } from "../../money/billing/accounts/adjustment.ts";
import { bucketsSchema } from "../../money/billing/declared/buckets_schema.ts";
import type { DeclaredAccounts } from "../../money/billing/declared/declared_accounts.ts";
import { creditAccount, isCreditReference } from "../../money/billing/accounts/credit.ts";
import { ACCOUNT_FIELDS } from "../../money/billing/declared/setting_fields.ts";
import { readForecast } from "../../money/billing/forecast.ts";
import type { BalanceKind } from "../../money/billing/accounts/key_settings.ts";
import type { KeyRing } from "../../money/billing/keys/key_ring.ts";
import type { LedgerMeter, Meter } from "../../money/billing/meter/meter.ts";
import { PREPAID, UNLIMITED } from "../../money/billing/accounts/unlimited_balance.ts";
import { MIN_SECRET_CHARACTERS, rotateWebhookSecret } from "../../money/billing/accounts/webhook_secret.ts";
import { type Handler, type Inbound, pathParam } from "../../platform/http/request/inbound.ts";
import { effectiveLimitsOf } from "../../money/limits/access_limits.ts";
import { writeLeft } from "../../money/limits/written_left.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { secret } from "../../platform/lib/settings/settings.ts";
import type { Store } from "../../platform/store/store.ts";
import type { AdminRoute } from "./shared/admin_route.ts";
import { answerJson } from "./shared/answer.ts";
import { readAmount, readFields, readSignedAmount, refuseUnkeptCapture } from "./shared/fields.ts";
import { readPage } from "./shared/query.ts";
import { shownAccount, writeAccount, writeForecast } from "./shared/shown_account.ts";

/** Reads the body of a request as a JSON object. */
export type ReadJson = (inbound: Inbound) => Promise<JsonObject>;

/** The body of `POST /admin/v1/accounts`. */
export const NewAccount = z.strictObject({
  id: z.string(),
  balance: z.string().optional(),
  webhook_secret: secret(MIN_SECRET_CHARACTERS).optional(),
  allow_buckets: bucketsSchema().optional(),
  ...ACCOUNT_FIELDS,
});

/** The body of `PATCH /admin/v1/accounts/:account`. */
export const AccountChange = z.strictObject({
  balance: z.enum([UNLIMITED, PREPAID], "unlimited or prepaid; credits and adjustments change the amount").optional(),
  ...ACCOUNT_FIELDS,
});

/** The body of `POST …/:account/buckets`. */
export const NewBuckets = z.strictObject({ allow_buckets: bucketsSchema() });

const REFERENCE = z.string().refine(isCreditReference, "1 to 128 visible ASCII characters").optional();

/** The body of `POST …/:account/credit`. */
export const NewCredit = z.strictObject({ amount: z.string(), reference: REFERENCE });

const REASON_EXPECTATION = `1 to ${MAX_REASON_CHARACTERS} characters on one line, without control characters`;

/** The body of `POST …/:account/adjust`. */
export const NewAdjustment = z.strictObject({
  amount: z.string(),
  reason: z.string(REASON_EXPECTATION).refine(isAdjustmentReason, REASON_EXPECTATION),
  reference: REFERENCE,
  allow_negative: z.boolean("true or false").optional(),
});

/** The dependencies of {@linkcode createAccountHandler}. */
export type CreateAccountOptions = Pick<ChangeAccountOptions, "store" | "readJson" | "declared" | "noBodiesReason">;

/**
 * `POST /admin/v1/accounts` `{id, balance?, webhook_secret?, allow_buckets?}` and the settings of accounts: 201 with
 * the account and its webhook secret, which is shown only once.
 */
export function createAccountHandler({ store, readJson, declared, noBodiesReason }: CreateAccountOptions): Handler {
  return async (inbound) => {
    const fields = readFields(NewAccount, await readJson(inbound));
    refuseUnkeptCapture(fields.capture, noBodiesReason);
    const { id, balance, webhook_secret: given, allow_buckets: allowBuckets, ...settings } = fields;
    declared.refuseAccountFields(id, fields);
    const kind: BalanceKind | undefined = balance === UNLIMITED ? UNLIMITED : undefined;
    const opening = {
      id,
      balance: balance === undefined || kind !== undefined ? 0n : readAmount("balance", balance, 0n),
      ...(given === undefined ? {} : { webhookSecret: given }),
      ...(allowBuckets === undefined ? {} : { allowBuckets }),
      settings: { balance: kind, ...settings },
    };
    const { account, webhookSecret } = await createAccount(store, opening);
    return answerJson({ ...writeAccount(account), webhook_secret: webhookSecret }, 201);
  };
}

/** `GET /admin/v1/accounts?limit&after`: `{data, next}`, sorted by id. */
export function listAccountsHandler(store: Store): Handler {
  return async (inbound) => {
    const { accounts, next } = await listAccounts(store, readPage(inbound.query));
    return answerJson({ data: accounts.map(writeAccount), next });
  };
}

/**
 * `GET /admin/v1/accounts/:account`: the account with its balance, what its limits have left, and how long the balance
 * lasts at the present rate.
 */
export function getAccountHandler(store: Store, meter: Pick<LedgerMeter, "limitsLeft">): Handler {
  return async ({ params }) => {
    const account = await readAccount(store, pathParam(params, "account"));
    const limits = effectiveLimitsOf({}, account);
    const left = limits === null ? null : await meter.limitsLeft({ keyId: "", accountId: account.id, limits });
    return answerJson({
      ...writeAccount(account),
      left: writeLeft(left?.account, store.now()),
      forecast: writeForecast(await readForecast(store, account)),
    });
  };
}

/**
 * `POST /admin/v1/accounts/:account/credit` `{amount, reference?}`: the account with its new balance. A repeat with the
 * same reference has no effect and returns `replayed`.
 */
export function creditHandler(store: Store, readJson: ReadJson, meter: Pick<Meter, "invalidate">): Handler {
  return async (inbound) => {
    const id = pathParam(inbound.params, "account");
    const { amount, reference } = readFields(NewCredit, await readJson(inbound));
    const credited = await creditAccount(store, id, readAmount("amount", amount), reference);
    meter.invalidate(id);
    return answerJson({ ...writeAccount(await readAccount(store, id)), ...credited });
  };
}

/**
 * `POST /admin/v1/accounts/:account/adjust` `{amount, reason, reference?, allow_negative?}`: the account with its new
 * balance. The amount is signed. A repeat with the same reference has no effect and returns `replayed`.
 */
export function adjustHandler(store: Store, readJson: ReadJson, meter: Pick<Meter, "invalidate">): Handler {
  return async (inbound) => {
    const account = pathParam(inbound.params, "account");
    const { amount: sent, reason, reference, allow_negative: allowNegative = false } = readFields(
      NewAdjustment,
      await readJson(inbound),
    );
    const amount = readSignedAmount("amount", sent);
    const named = reference === undefined ? {} : { reference };
    const adjusted = await adjustAccount(store, { account, amount, reason, allowNegative, ...named });
    meter.invalidate(account);
    return answerJson({ ...writeAccount(await readAccount(store, account)), ...adjusted });
  };
}

/** `POST /admin/v1/accounts/:account/buckets` `{allow_buckets}`: replaces the buckets and returns the account. */
export function bucketsHandler(store: Store, readJson: ReadJson, declared: DeclaredAccounts): Handler {
  return async (inbound) => {
    const fields = readFields(NewBuckets, await readJson(inbound));
    const id = pathParam(inbound.params, "account");
    declared.refuseAccountFields(id, fields);
    return answerJson(writeAccount(await setAllowedBuckets(store, id, fields.allow_buckets)));
  };
}

/** The dependencies of {@linkcode changeAccountHandler}. */
export interface ChangeAccountOptions {
  readonly store: Store;
  readonly keys: Pick<KeyRing, "evictAccount">;
  readonly meter: Pick<Meter, "invalidate">;
  /** What only the configuration file changes. */
  readonly declared: DeclaredAccounts;
  readonly readJson: ReadJson;
  /** See {@linkcode refuseUnkeptCapture}. */
  readonly noBodiesReason: string | null;
}

/**
 * `PATCH /admin/v1/accounts/:account`: the account with its settings changed. A field that is given is replaced, null
 * removes it, a missing field is kept (RFC 7396). The change is in force for the next request.
 */
export function changeAccountHandler(options: ChangeAccountOptions): Handler {
  const { store, keys, meter, declared, readJson, noBodiesReason } = options;
  return async (inbound) => {
    const changes = readFields(AccountChange, await readJson(inbound));
    refuseUnkeptCapture(changes.capture, noBodiesReason);
    const id = pathParam(inbound.params, "account");
    declared.refuseAccountFields(id, changes);
    const account = await changeAccountSettings(store, id, changes);
    keys.evictAccount(account.id);
    meter.invalidate(account.id);
    return answerJson(writeAccount(account));
  };
}

/** `POST /admin/v1/accounts/:account/suspend`: returns the account; its keys are rejected from now on. */
export function suspendHandler(store: Store, keys: Pick<KeyRing, "evictAccount">): Handler {
  return async ({ params }) => {
    const account = await suspendAccount(store, pathParam(params, "account"));
    keys.evictAccount(account.id);
    return answerJson(writeAccount(account));
  };
}

/** `POST /admin/v1/accounts/:account/resume`: returns the account; its keys are accepted again. */
export function resumeHandler(store: Store, keys: Pick<KeyRing, "evictAccount">): Handler {
  return async ({ params }) => {
    const account = await resumeAccount(store, pathParam(params, "account"));
    keys.evictAccount(account.id);
    return answerJson(writeAccount(account));
  };
}

/** `POST …/:account/webhook-secret`: a new secret, shown only once. The old one stays valid for a day. */
export function rotateWebhookSecretHandler(store: Store): Handler {
  return async ({ params }) => {
    const { id } = refuseErased(await readAccount(store, pathParam(params, "account")));
    return answerJson({ account: id, webhook_secret: await rotateWebhookSecret(store, id) });
  };
}

/** Reads an account as it is shown, for the audit log. */
export function accountSnapshot(store: Store): NonNullable<AdminRoute["snapshot"]> {
  return ({ params }) => shownAccount(store, pathParam(params, "account"));
}
