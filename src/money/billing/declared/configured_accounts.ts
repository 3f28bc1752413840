import type { Money } from "../../../platform/lib/basics/money.ts";
import type { Store } from "../../../platform/store/store.ts";
import { changeAccountSettings, createAccount, setAllowedBuckets } from "../accounts/account.ts";
import { hashOfKey } from "../keys/api_key.ts";
import { addKey, changeKey, keyRecordOf } from "../keys/issued_key.ts";
import type { AccountChanges, KeyChanges } from "../accounts/key_settings.ts";
import { accountKey, type AccountRecord, keyOwnerKey, type KeyOwnerRecord } from "../accounts/records.ts";

/** An account in the operator's configuration. Source: docs/configuration-reference.md. */
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
