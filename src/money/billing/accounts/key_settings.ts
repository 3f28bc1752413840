import type { AccessLimits, CaptureSetting, PromptCachingSetting, WebhookFormat } from "../../limits/access_limits.ts";
import { changed, changedLimits, type LimitChanges } from "../../limits/limit_changes.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";

/** What an operator can set on a key or an account. Every field is optional. */
export interface KeySettings {
  /** For people: where the key is used, or whose account it is. */
  readonly name?: string;
  /** Unix milliseconds from which the key, or every key of the account, is refused. Default: it does not expire. */
  readonly expiresAt?: number;
  /** Facts of the operator, which the gateway stores and shows. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Default: none. */
  readonly limits?: AccessLimits;
  /** Which requests have their bodies kept. Default: as the account; of an account: none. */
  readonly capture?: CaptureSetting;
  /** `off` of a key or its account: the gateway makes no use of vendors' prompt caches by itself. Default: it does. */
  readonly promptCaching?: PromptCachingSetting;
}

/** What an operator can set on an account, apart from its overdraft, which is stored with the balance. */
export interface AccountSettings extends KeySettings {
  /** The https address that gets the notifications about the account. Default: none. */
  readonly notificationUrl?: string;
  /** The body of events about batches. Default: `service`. */
  readonly webhookFormat?: WebhookFormat;
}

/** Settings of a key as {@linkcode KEY_FIELDS} reads them. Undefined: kept. Null: removed. */
export interface KeyChanges extends LimitChanges {
  readonly name?: string | null | undefined;
  readonly expires_at?: number | null | undefined;
  /** Replaced as a whole. */
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
  readonly capture?: CaptureSetting | null | undefined;
  readonly prompt_caching?: PromptCachingSetting | null | undefined;
}

/** Whether requests use up a balance, or are charged whatever it is. */
export type BalanceKind = "prepaid" | "unlimited";

/** Settings of an account as {@linkcode ACCOUNT_FIELDS} reads them. Undefined: kept. Null: removed. */
export interface AccountChanges extends KeyChanges {
  /** Whether the balance is limited; an opening amount is not a change. */
  readonly balance?: BalanceKind | undefined;
  readonly overdraft?: Money | null | undefined;
  readonly notification_url?: string | null | undefined;
  readonly webhook_format?: WebhookFormat | null | undefined;
}

/** Changes the settings of an account by the fields that are given. */
export function changedAccountSettings(before: AccountSettings, given: AccountChanges): AccountSettings {
  const notificationUrl = changed(before.notificationUrl, given.notification_url);
  const webhookFormat = changed(before.webhookFormat, given.webhook_format);
  return {
    ...changedSettings(before, given),
    ...notificationUrl !== undefined && { notificationUrl },
    ...webhookFormat !== undefined && { webhookFormat },
  };
}

/** Changes settings by the fields that are given. */
export function changedSettings(before: KeySettings, given: KeyChanges): KeySettings {
  const name = changed(before.name, given.name);
  const limits = changedLimits(before.limits, given);
  const capture = changed(before.capture, given.capture);
  const promptCaching = changed(before.promptCaching, given.prompt_caching);
  const expiresAt = changed(before.expiresAt, given.expires_at);
  const metadata = changed(before.metadata, given.metadata);
  return {
    ...name !== undefined && { name },
    ...limits && { limits },
    ...capture && { capture },
    ...promptCaching && { promptCaching },
    ...expiresAt !== undefined && { expiresAt },
    ...metadata && { metadata },
  };
}
